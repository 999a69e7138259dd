/* keys.c - lanes of elements as keys: in order, the first of them, the one at a place in order.
 *
 * An item is a key, less the lane's least one, above the element's place, in 64 bits. Items are
 * sorted digit by digit from the lowest (Knuth, The Art of Computer Programming 3, 5.2.5). Where a
 * lane's keys have more digits than pay, only the highest are sorted, and runs of items that are
 * equal there are sorted again by what is left of their keys. A place in order is found by counting
 * keys into ranges and going on in one of them.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "sort.h"
#include "../../kernels/kernels.h"

enum {
    SORT_FEW = 24,     /* elements that insertion sorts faster than digits do */
    SORT_RANKED = 12,  /* elements that counting ranks sorts faster still */
    SORT_SHORT = 2048, /* below so many a digit has 8 bits, not 11 */
    SORT_DIGITS = 1 << 11,
    SORT_POLL = 1 << 16, /* requests to stop are polled after so many elements */
    SORT_CANDIDATES = 64,
    SORT_BLOCK = 256
};

/* Polls behind each SORT_POLL elements, so that a short lane costs none. */
TNI_INLINE bool sort_stopped(int64_t i) {
    return (i & (SORT_POLL - 1)) == SORT_POLL - 1 && tni_stopped();
}

/* --- scratch: counts of digits, then two rows of n numbers ------------------------------------ */

typedef struct sort_room {
    int64_t *count;
    uint64_t *item, *other;
} sort_room;

TN_PRIV bool tni_sort_scratch(tn_frame *f, int64_t n, int64_t lanes) {
    const int64_t pair = 2 * (int64_t)sizeof(uint64_t);
    /* The counts, and candidates of short lanes. */
    const int64_t more = SORT_DIGITS / 2 + 2 * SORT_CANDIDATES;
    int64_t count;
    if (!tni_add(n, more, &count)) count = INT64_MAX;
    return lanes ? tni_scratch_each(f, lanes, count, pair) : tn_scratch(f, count, pair);
}
static sort_room sort_room_of(void *scratch, int64_t n) {
    sort_room r;
    r.count = (int64_t *)scratch;
    r.item = (uint64_t *)scratch + SORT_DIGITS;
    r.other = r.item + n;
    return r;
}
TN_PRIV char *tni_sort_lane_at(const tn_tensor *t, int d, int64_t i) {
    int64_t at = 0;
    for (int k = t->ndim - 1; k >= 0; k--) {
        if (k == d) continue;
        at += i % t->size[k] * t->stride[k];
        i /= t->size[k];
    }
    return tni_bytes_at(t) + at * tni_dtype_size(t);
}
TN_PRIV tni_sort_lane tni_sort_lane_of(const tn_tensor *t, int d, const char *at, bool descending) {
    tni_sort_lane l;
    l.at = at;
    l.n = t->ndim ? t->size[d] : 1;
    l.step = t->ndim ? t->stride[d] * tni_dtype_size(t) : 0;
    l.turn = descending ? ~UINT64_C(0) : 0;
    l.dtype = t->dtype;
    return l;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* A key for the bits v of a float of `bits` bits: all NaN above infinity, the zeros equal. Floats
 * of one sign order as their bits without it; negative ones count down from the middle. */
TNI_INLINE uint64_t sort_float(uint64_t v, int bits, uint64_t infinity) {
    const uint64_t sign = UINT64_C(1) << (bits - 1), size = v & (sign - 1);
    const uint64_t key = v & sign ? sign - size : sign + size;
    return size > infinity ? sign | (sign - 1) : key;
}
TN_PRIV uint64_t tni_sort_nan(int dtype) {
    return ~UINT64_C(0) >> (64 - 8 * tni_dtype(dtype)->bytes);
}

/* to[i] = key of an element v of type T. */
#define SORT_KEYS(T, key)                    \
    for (int64_t i = 0; i < n; i++) {        \
        T v;                                 \
        memcpy(&v, at + i * step, sizeof v); \
        to[i] = (key);                       \
    }                                        \
    return
/* Keys of n elements from `first` on. Integers: the sign bit is flipped, so that negative numbers
 * come first among unsigned ones. */
static void sort_load(const tni_sort_lane *l, int64_t first, int64_t n, uint64_t *to) {
    const char *at = l->at + first * l->step;
    const int64_t step = l->step;
    const uint64_t turn = l->turn, flip = turn ^ UINT64_C(1) << 63;
    switch (l->dtype) {
    case TN_F32: SORT_KEYS(uint32_t, turn ^ sort_float(v, 32, UINT64_C(0x7f800000)));
    case TN_F64: SORT_KEYS(uint64_t, turn ^ sort_float(v, 64, UINT64_C(0x7ff0000000000000)));
    case TN_F16: SORT_KEYS(uint16_t, turn ^ sort_float(v, 16, 0x7c00));
    case TN_BF16: SORT_KEYS(uint16_t, turn ^ sort_float(v, 16, 0x7f80));
    case TN_I64: SORT_KEYS(uint64_t, flip ^ v);
    case TN_I32: SORT_KEYS(int32_t, flip ^ (uint64_t)v);
    default:
        for (int64_t i = 0; i < n; i++)
            to[i] = flip ^ (uint64_t)tni_element(at + i * step, l->dtype).integer;
    }
}
#undef SORT_KEYS
static uint64_t sort_key(const tni_sort_lane *l, uint64_t place) {
    uint64_t key;
    sort_load(l, (int64_t)place, 1, &key);
    return key;
}
static bool sort_load_all(const tni_sort_lane *l, uint64_t *to) {
    for (int64_t i = 0; i < l->n; i += SORT_POLL) {
        if (tni_stopped()) return false;
        sort_load(l, i, l->n - i < SORT_POLL ? l->n - i : (int64_t)SORT_POLL, to + i);
    }
    return true;
}

/* The number of bits of v: 0 of 0. */
static int sort_bits(uint64_t v) {
    int n = 0;
    for (int half = 32; half; half /= 2)
        if (v >> half) {
            v >>= half;
            n += half;
        }
    return n + (v != 0);
}

/* What n keys have in common; of no meaning if the call is to stop, which tni_stopped then says. */
typedef struct sort_range {
    uint64_t least, span; /* the largest is least + span */
    int same;             /* so many low bits are equal */
} sort_range;
static sort_range sort_range_of(const uint64_t *key, int64_t n) {
    sort_range r;
    uint64_t most = key[0], differ = 0, least = key[0];
    for (int64_t first = 0; first < n && !(first && tni_stopped()); first += SORT_POLL) {
        const int64_t end = n - first < SORT_POLL ? n : first + SORT_POLL;
        for (int64_t i = first; i < end; i++) {
            differ |= key[i] ^ key[0];
            least = key[i] < least ? key[i] : least;
            most = key[i] > most ? key[i] : most;
        }
    }
    r.least = least;
    r.span = most - least;
    r.same = differ ? sort_bits(differ & (~differ + 1)) - 1 : 64;
    return r;
}

/* --- sorting ---------------------------------------------------------------------------------- */

/* Sorts n keys, and what stands beside them, by insertion; equal ones keep their order. */
static void sort_insert(uint64_t *key, uint64_t *beside, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const uint64_t k = key[i], b = beside[i];
        int64_t at = i;
        for (; at > 0 && key[at - 1] > k; at--) { /* larger ones move up by one place */
            key[at] = key[at - 1];
            beside[at] = beside[at - 1];
        }
        key[at] = k;
        beside[at] = b;
    }
}
/* The same for n up to SORT_RANKED, which counts for each key those that come before it. */
static void sort_rank(const uint64_t *key, uint64_t *beside, int64_t n) {
    uint64_t from[SORT_RANKED];
    int before[SORT_RANKED] = {0};
    for (int64_t i = 1; i < n; i++) {
        int these = 0;
        for (int64_t k = 0; k < i; k++) {
            const int after = key[k] > key[i];
            before[k] += after;
            these += !after;
        }
        before[i] = these;
    }
    memcpy(from, beside, (size_t)n * sizeof *from);
    for (int64_t i = 0; i < n; i++) beside[before[i]] = from[i];
}
/* Sorts n numbers by `bits` bits from bit `low` on; those that are equal there keep their order. */
static bool sort_digits(const sort_room *r, uint64_t *item, uint64_t *other, int64_t n, int low,
                        int bits) {
    const int most = n < SORT_SHORT ? 8 : 11, passes = (bits + most - 1) / most;
    const int width = passes ? (bits + passes - 1) / passes : 0;
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    uint64_t *from = item, *to = other;
    for (int pass = 0; pass < passes; pass++, low += width) {
        uint64_t *filled = to;
        int64_t before = 0;
        memset(r->count, 0, sizeof(int64_t) << width);
        for (int64_t i = 0; i < n; i++) {
            if (sort_stopped(i)) return false;
            r->count[from[i] >> low & mask]++;
        }
        for (uint64_t d = 0; d <= mask; d++) { /* where each digit's numbers begin */
            const int64_t these = r->count[d];
            r->count[d] = before;
            before += these;
        }
        for (int64_t i = 0; i < n; i++) {
            const uint64_t v = from[i];
            if (tni_stopped_at(i)) return false;
            to[r->count[v >> low & mask]++] = v;
        }
        to = from;
        from = filled;
    }
    if (from != item) memcpy(item, from, (size_t)n * sizeof *item);
    return true;
}

/* Sorts n items of the lane, whose low `places` bits hold places in rising order, by key. At the
 * end other bits of the items have no meaning. all: the items are the whole lane. */
static bool sort_items(const tni_sort_lane *l, const sort_room *r, uint64_t *item, uint64_t *other,
                       int64_t n, int places, bool all) {
    const uint64_t mask = (UINT64_C(1) << places) - 1;
    const int enough = n < SORT_SHORT ? 24 : places <= 20 ? 33 : 44;
    sort_range range;
    int bits, cut;
    if (!all)
        for (int64_t i = 0; i < n && !sort_stopped(i); i++) other[i] = sort_key(l, item[i] & mask);
    else if (!sort_load_all(l, other))
        return false;
    if (n <= SORT_RANKED) {
        sort_rank(other, item, n);
        return true;
    }
    if (n <= SORT_FEW) {
        sort_insert(other, item, n);
        return true;
    }
    range = sort_range_of(other, n);
    if (!range.span) return true;
    /* Of the keys' bits that differ, the highest that are enough and fit. */
    bits = sort_bits(range.span >> range.same);
    cut = bits;
    if (cut > enough) cut = enough;
    if (cut > 64 - places) cut = 64 - places;
    for (int64_t i = 0; i < n && !sort_stopped(i); i++)
        item[i] =
            (other[i] - range.least) >> (range.same + bits - cut) << places | (item[i] & mask);
    if (!sort_digits(r, item, other, n, places, cut)) return false;
    if (cut == bits) return true;
    TNI_PATH(sort_again);
    /* A run's keys span fewer bits than were cut off, so a few rounds sort all. */
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && item[end] >> places == item[i] >> places;) end++;
        if (end - i > 1 && !sort_items(l, r, item + i, other, end - i, places, false)) return false;
    }
    return true;
}

/* Bits that hold all places of n elements. */
static int sort_places(int64_t n) { return n < 3 ? 1 : sort_bits((uint64_t)n - 1); }

/* Items 0, 1, .. n - 1. */
static void sort_number(const sort_room *r, int64_t n) {
    for (int64_t i = 0; i < n && !sort_stopped(i); i++) r->item[i] = (uint64_t)i;
}

TN_PRIV const uint64_t *tni_sort_order(const tni_sort_lane *l, void *scratch) {
    const sort_room r = sort_room_of(scratch, l->n);
    const int places = sort_places(l->n);
    sort_number(&r, l->n);
    if (!sort_items(l, &r, r.item, r.other, l->n, places, true)) return NULL;
    for (int64_t i = 0; i < l->n; i++) {
        if (sort_stopped(i)) return NULL;
        r.item[i] &= (UINT64_C(1) << places) - 1;
    }
    return r.item;
}

/* --- the first few ---------------------------------------------------------------------------- */

typedef struct sort_pair {
    uint64_t key, place;
} sort_pair;
static bool sort_before(sort_pair a, sort_pair b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
}
static sort_pair sort_middle(sort_pair a, sort_pair b, sort_pair c) {
    if (sort_before(b, a)) return sort_before(a, c) ? a : sort_before(c, b) ? b : c;
    return sort_before(b, c) ? b : sort_before(c, a) ? a : c;
}
/* Moves the k smallest of n pairs to the front, in any order: Hoare's FIND (CACM 4, 1961,
 * algorithm 65). */
static void sort_select(sort_pair *p, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high && !tni_stopped()) {
        const sort_pair middle = sort_middle(p[low], p[low + (high - low) / 2], p[high]);
        int64_t i = low, j = high;
        /* Smaller ones to the left of i, larger ones to the right of j. */
        while (i <= j) {
            while (sort_before(p[i], middle)) i++;
            while (sort_before(middle, p[j])) j--;
            if (i > j) break;
            const sort_pair x = p[i];
            p[i++] = p[j];
            p[j--] = x;
        }
        /* Goes on in the part in which the k smallest end; between i and j they are done. */
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}
/* Keeps the k smallest of n candidates. Returns the largest of their keys. */
static uint64_t sort_keep(sort_pair *p, int64_t n, int64_t k) {
    uint64_t most = 0;
    sort_select(p, n, k);
    for (int64_t i = 0; i < k; i++) most = p[i].key > most ? p[i].key : most;
    return most;
}
/* Puts the k smallest pairs of the lane to the front of p, which has 2k + SORT_CANDIDATES places:
 * elements below the k-th of those before are candidates. */
static bool sort_candidates(const tni_sort_lane *l, int64_t k, sort_pair *p) {
    const int64_t most = 2 * k + SORT_CANDIDATES;
    uint64_t key[SORT_BLOCK], limit = 0;
    int64_t n = 0;
    bool full = false;
    for (int64_t first = 0; first < l->n; first += SORT_BLOCK) {
        const int64_t left = l->n - first, these = left < SORT_BLOCK ? left : (int64_t)SORT_BLOCK;
        if (tni_stopped_at(first)) return false;
        sort_load(l, first, these, key);
        for (int64_t i = 0; i < these; i++) {
            if (full && key[i] >= limit) continue;
            p[n].key = key[i];
            p[n++].place = (uint64_t)(first + i);
            if (n < most) continue;
            limit = sort_keep(p, n, k);
            full = true;
            n = k;
        }
    }
    sort_keep(p, n, k);
    return true;
}
/* The places of the first k, up to SORT_FEW, which are kept in order beside their keys. */
static bool sort_least(const tni_sort_lane *l, int64_t k, uint64_t *place) {
    uint64_t key[SORT_BLOCK], kept[SORT_FEW], limit = 0;
    int64_t n = 0;
    for (int64_t first = 0; first < l->n; first += SORT_BLOCK) {
        const int64_t left = l->n - first, these = left < SORT_BLOCK ? left : (int64_t)SORT_BLOCK;
        if (tni_stopped_at(first)) return false;
        sort_load(l, first, these, key);
        for (int64_t i = 0; i < these; i++) {
            int64_t at = n;
            if (n == k && key[i] >= limit) continue;
            if (n == k)
                at--;
            else
                n++;
            for (; at > 0 && kept[at - 1] > key[i]; at--) {
                kept[at] = kept[at - 1];
                place[at] = place[at - 1];
            }
            kept[at] = key[i];
            place[at] = (uint64_t)(first + i);
            limit = kept[n - 1];
        }
    }
    return true;
}
TN_PRIV const uint64_t *tni_sort_first(const tni_sort_lane *l, int64_t k, void *scratch) {
    const sort_room r = sort_room_of(scratch, l->n);
    sort_pair *p = (sort_pair *)(void *)r.item;
    uint64_t *item = (uint64_t *)(void *)(p + 2 * k + SORT_CANDIDATES);
    const int places = sort_places(l->n);
    /* Candidates, and twice k numbers behind them, take no more than two rows. */
    if (k > l->n / 4) return tni_sort_order(l, scratch);
    if (k <= SORT_FEW) {
        TNI_PATH(sort_least);
        return sort_least(l, k, r.item) ? r.item : NULL;
    }
    TNI_PATH(sort_first);
    if (!sort_candidates(l, k, p)) return NULL;
    for (int64_t i = 0; i < k; i++) item[i] = p[i].place;
    /* By place, then by key. */
    if (!sort_digits(&r, item, item + k, k, 0, places)) return NULL;
    if (k && !sort_items(l, &r, item, item + k, k, places, false)) return NULL;
    for (int64_t i = 0; i < k; i++) item[i] &= (UINT64_C(1) << places) - 1;
    return item;
}

/* --- the one at a place in order -------------------------------------------------------------- */

TN_PRIV const uint64_t *tni_sort_keys(const tni_sort_lane *l, void *scratch) {
    const sort_room r = sort_room_of(scratch, l->n);
    return sort_load_all(l, r.other) ? r.other : NULL;
}
/* Keeps those of n keys that have the k-th one's digit above `shift`, in their order, with
 * their places; k becomes its number among them. first: places are still 0..n-1. 0: the call is to
 * stop. */
static int64_t sort_narrow(const sort_room *r, int64_t n, uint64_t least, int shift, int64_t *k,
                           bool first) {
    uint64_t *key = r->other, *place = r->item, digit = 0;
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        if (sort_stopped(i)) return 0;
        r->count[(key[i] - least) >> shift]++;
    }
    for (; *k >= r->count[digit]; digit++) *k -= r->count[digit];
    for (int64_t i = 0; i < n; i++) {
        const uint64_t v = key[i], at = first ? (uint64_t)i : place[i];
        if (sort_stopped(i)) return 0;
        key[left] = v;
        place[left] = at;
        left += (v - least) >> shift == digit;
    }
    return left;
}
TN_PRIV int64_t tni_sort_kth(const tni_sort_lane *l, int64_t k, void *scratch) {
    const sort_room r = sort_room_of(scratch, l->n);
    int64_t n = l->n;
    bool first = true;
    for (;; first = false) {
        const sort_range range = sort_range_of(r.other, n);
        if (tni_stopped()) return 0; /* the range, or what was narrowed by it, is not whole */
        const int width = n < SORT_SHORT ? 8 : 11, bits = sort_bits(range.span);
        if (!range.span || n <= SORT_FEW) break;
        memset(r.count, 0, sizeof(int64_t) << width);
        n = sort_narrow(&r, n, range.least, bits > width ? bits - width : 0, &k, first);
    }
    if (first) {
        sort_number(&r, n);
        if (n >= SORT_POLL && tni_stopped()) return 0;
    }
    if (n <= SORT_FEW) sort_insert(r.other, r.item, n);
    return (int64_t)r.item[k];
}
