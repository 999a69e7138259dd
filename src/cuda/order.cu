/* order.cu - a stable sort, by merging or, where that takes fewer passes over memory, by digits.
 *
 * Merging (Knuth, The Art of Computer Programming 3, 5.2.4): tiles of 1024 items in shared memory
 * by a bitonic network (K. Batcher, AFIPS 1968), short rows several a tile; then runs of doubling
 * width, each block a tile of the result, whose parts it finds by bisection (O. Green, R. McColl,
 * D. Bader, GPU Merge Path, ICS 2012). Items of 16 bytes are read and written once a pass.
 *
 * Digits of 8 bits, the lowest first (Knuth, 5.2.5). A pass counts the values in blocks of 2048
 * items, adds the counts up, and deals the items out: each finds its rank among the equal ones of
 * its warp by votes (S. Ashkiani et al., GPU Multisplit, PPoPP 2016), is sorted within the block in
 * shared memory, and goes with its equals to neighbouring places. Items are read twice and written
 * once a pass. */
#include "order.cuh"
#include "lines.cuh"

enum { ORDER_PAIRS = TNC_ORDER_TILE / 2, ORDER_EACH = TNC_ORDER_TILE / TNC_THREADS };

struct tnc_order_tiles {
    const tnc_item *from;
    tnc_item *to;              /* may be `from` if all are kept */
    int64_t rows, n, tiles;    /* tiles a row */
    int64_t row_out, tile_out; /* items from one to the next */
    int32_t width;             /* of a tile: a power of 2 */
    int32_t keep;              /* the first of each tile are written */
};

TNC_FN tnc_item tnc_item_last() {
    tnc_item last;
    last.key = ~(uint64_t)0;
    last.place = INT64_MAX;
    return last;
}

/* Sorts the tiles of a block's slots, `width` slots each, in steps of Batcher's network. */
TNC_FN void tnc_order_network(tnc_item *slot, int width) {
    for (int size = 2; size <= width; size *= 2)
        for (int apart = size / 2; apart; apart /= 2) {
            const int t = (int)threadIdx.x, i = 2 * t - (t & (apart - 1)), k = i + apart;
            const bool up = !(i & (width - 1) & size);
            const tnc_item a = slot[i], b = slot[k];
            if (tnc_before(b, a) == up) {
                slot[i] = b;
                slot[k] = a;
            }
            __syncthreads();
        }
}

static __global__ void __launch_bounds__(ORDER_PAIRS) tnc_order_tiles_kernel(tnc_order_tiles o) {
    TNC_SHARED(tnc_item, slot, TNC_ORDER_TILE);
    const int64_t each = TNC_ORDER_TILE / o.width, all = o.rows * o.tiles;
    for (int64_t first = blockIdx.x * each; first < all; first += gridDim.x * each) {
        for (int k = (int)threadIdx.x; k < TNC_ORDER_TILE; k += ORDER_PAIRS) {
            const int64_t g = first + k / o.width, row = g / o.tiles,
                          i = g % o.tiles * o.width + k % o.width;
            slot[k] = g < all && i < o.n ? o.from[row * o.n + i] : tnc_item_last();
        }
        __syncthreads();
        tnc_order_network(slot, o.width);
        for (int k = (int)threadIdx.x; k < TNC_ORDER_TILE; k += ORDER_PAIRS) {
            const int64_t g = first + k / o.width, row = g / o.tiles, in = k % o.width,
                          i = g % o.tiles * o.tile_out + in;
            if (g < all && in < o.keep && i < o.row_out) o.to[row * o.row_out + i] = slot[k];
        }
        __syncthreads();
    }
}

struct tnc_order_merge {
    const tnc_item *from;
    tnc_item *to;
    int64_t rows, n, tiles, width; /* width: of the sorted runs, whole tiles */
};

/* How many of the first d items of a and b together come from a. */
template <class N>
TNC_FN N tnc_order_split(const tnc_item *a, N na, const tnc_item *b, N nb, N d) {
    N low = d > nb ? d - nb : 0, high = d < na ? d : na;
    while (low < high) {
        const N middle = low + (high - low) / 2;
        if (tnc_before(a[middle], b[d - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* na items of slot, then nb others, both sorted: the thread's four of the result. */
TNC_FN void tnc_order_four(const tnc_item *slot, int na, int nb, tnc_item *to) {
    const tnc_item *b = slot + na;
    const int d = (int)threadIdx.x * ORDER_EACH;
    if (d >= na + nb) return;
    int i = tnc_order_split(slot, na, b, nb, d), k = d - i;
    for (int j = d; j < d + ORDER_EACH && j < na + nb; j++) {
        const bool first = i < na && (k >= nb || tnc_before(slot[i], b[k]));
        to[j] = first ? slot[i] : b[k];
        i += first;
        k += !first;
    }
}

static __global__ void __launch_bounds__(TNC_THREADS) tnc_order_merge_kernel(tnc_order_merge o) {
    TNC_SHARED(tnc_item, slot, TNC_ORDER_TILE);
    TNC_SHARED(int64_t, split, 2);
    for (int64_t job = blockIdx.x; job < o.rows * o.tiles; job += gridDim.x) {
        const int64_t begin = job % o.tiles * TNC_ORDER_TILE, row = job / o.tiles * o.n,
                      left = o.n - begin,
                      end = begin + (left < TNC_ORDER_TILE ? left : (int64_t)TNC_ORDER_TILE),
                      low = begin / (2 * o.width) * (2 * o.width),
                      middle = low + o.width < o.n ? low + o.width : o.n,
                      high = middle + o.width < o.n ? middle + o.width : o.n;
        const tnc_item *a = o.from + row + low, *b = o.from + row + middle;
        if (threadIdx.x < 2)
            split[threadIdx.x] = tnc_order_split(a, middle - low, b, high - middle,
                                                 (threadIdx.x ? end : begin) - low);
        __syncthreads();
        const int64_t i = split[0], k = begin - low - i;
        const int na = (int)(split[1] - i), n = (int)(end - begin);
        for (int j = (int)threadIdx.x; j < n; j += TNC_THREADS)
            slot[j] = j < na ? a[i + j] : b[k + j - na];
        __syncthreads();
        tnc_order_four(slot, na, n - na, o.to + row + begin);
        __syncthreads();
    }
}

/* --- digits ----------------------------------------------------------------------------------- */

enum {
    ORDER_WARP = 32,
    ORDER_WARPS = TNC_THREADS / ORDER_WARP,
    ORDER_OWN = TNC_ORDER_BLOCK / TNC_THREADS, /* items of a thread */
    ORDER_AHEAD = 4                            /* counts that a thread reads at once */
};
static_assert((int)TNC_ORDER_VALUES == (int)TNC_THREADS, "a thread has a value");

struct tnc_order_digits {
    const tnc_item *from;
    tnc_item *to;
    uint32_t *counts; /* rows x values x blocks: of each block, then of those before it */
    uint32_t *totals; /* rows x values */
    int64_t rows, n, blocks;
    int32_t shift;
};
TNC_FN int tnc_order_digit(const tnc_order_digits &o, const tnc_item &item) {
    return (int)(item.key >> o.shift & (TNC_ORDER_VALUES - 1));
}
/* A block of a row: items begin to end of from. */
struct tnc_order_part {
    int64_t row, block, begin, end;
};
TNC_FN tnc_order_part tnc_order_part_of(const tnc_order_digits &o, int64_t job) {
    tnc_order_part p;
    p.row = job / o.blocks;
    p.block = job - p.row * o.blocks;
    p.begin = p.row * o.n + p.block * TNC_ORDER_BLOCK;
    p.end = p.begin + TNC_ORDER_BLOCK;
    if (p.end > (p.row + 1) * o.n) p.end = (p.row + 1) * o.n;
    return p;
}

static __global__ void __launch_bounds__(TNC_THREADS) tnc_order_count(tnc_order_digits o) {
    TNC_SHARED(unsigned, count, TNC_ORDER_VALUES);
    const int t = (int)threadIdx.x;
    for (int64_t job = blockIdx.x; job < o.rows * o.blocks; job += gridDim.x) {
        const tnc_order_part p = tnc_order_part_of(o, job);
        count[t] = 0;
        __syncthreads();
        for (int64_t i = p.begin + t; i < p.end; i += TNC_THREADS)
            atomicAdd(&count[tnc_order_digit(o, o.from[i])], 1u);
        __syncthreads();
        o.counts[(p.row * TNC_ORDER_VALUES + t) * o.blocks + p.block] = count[t];
    }
}

/* The sum of what lanes 0 to `lane` of a warp give. */
TNC_FN uint32_t tnc_order_upto(uint32_t v, int lane) {
    for (int h = 1; h < ORDER_WARP; h *= 2) {
        const uint32_t before = __shfl_sync(0xffffffffu, v, lane >= h ? lane - h : 0);
        if (lane >= h) v += before;
    }
    return v;
}
/* Counts of a value in each block of a row to those in the blocks before: a warp each. */
static __global__ void __launch_bounds__(TNC_THREADS) tnc_order_add(tnc_order_digits o) {
    const int lane = (int)threadIdx.x % ORDER_WARP;
    for (int64_t line = TNC_FIRST() / ORDER_WARP; line < o.rows * TNC_ORDER_VALUES;
         line += TNC_STEP() / ORDER_WARP) {
        uint32_t *at = o.counts + line * o.blocks, carry = 0;
        for (int64_t b = lane; b - lane < o.blocks; b += ORDER_AHEAD * ORDER_WARP) {
            uint32_t v[ORDER_AHEAD];
            for (int j = 0; j < ORDER_AHEAD; j++)
                v[j] = b + j * ORDER_WARP < o.blocks ? at[b + j * ORDER_WARP] : 0;
            for (int j = 0; j < ORDER_AHEAD; j++) {
                const uint32_t upto = tnc_order_upto(v[j], lane);
                if (b + j * ORDER_WARP < o.blocks) at[b + j * ORDER_WARP] = carry + upto - v[j];
                carry += __shfl_sync(0xffffffffu, upto, ORDER_WARP - 1);
            }
        }
        if (!lane) o.totals[line] = carry;
    }
}

/* How many items of its warp's with the same digit come before the thread's, by their counts up to
 * now in `seen`; by all threads of the warp. */
TNC_FN unsigned tnc_order_rank(unsigned *seen, int digit, bool there) {
    const unsigned below = (1u << threadIdx.x % ORDER_WARP) - 1;
    unsigned equal = __ballot_sync(0xffffffffu, there), was;
    for (int bit = 1; bit < TNC_ORDER_VALUES; bit *= 2) {
        const unsigned set = __ballot_sync(0xffffffffu, (digit & bit) != 0);
        equal &= digit & bit ? set : ~set;
    }
    was = seen[digit];
    __syncwarp();
    if (there && !(equal & below)) seen[digit] = was + (unsigned)__popc(equal);
    __syncwarp();
    return was + (unsigned)__popc(equal & below);
}
/* The thread's value: of `count` items of the block, where the first is in the block, and how much
 * further it is in the row. By all threads. */
TNC_FN void tnc_order_bases(const tnc_order_digits &o, const tnc_order_part &p, unsigned count,
                            unsigned *first, int64_t *further) {
    const int t = (int)threadIdx.x;
    const int64_t line = p.row * TNC_ORDER_VALUES + t, total = o.totals[line];
    first[t] = count;
    further[t] = total;
    __syncthreads();
    for (int h = 1; h < TNC_ORDER_VALUES; h *= 2) {
        const unsigned a = t >= h ? first[t - h] : 0;
        const int64_t b = t >= h ? further[t - h] : 0;
        __syncthreads();
        first[t] += a;
        further[t] += b;
        __syncthreads();
    }
    first[t] -= count;
    further[t] += o.counts[line * o.blocks + p.block] - total - first[t];
    __syncthreads();
}

static __global__ void __launch_bounds__(TNC_THREADS) tnc_order_deal(tnc_order_digits o) {
    TNC_SHARED(tnc_item, slot, TNC_ORDER_BLOCK);
    TNC_SHARED(unsigned, seen, ORDER_WARPS *TNC_ORDER_VALUES);
    TNC_SHARED(unsigned, first, TNC_ORDER_VALUES);
    TNC_SHARED(int64_t, further, TNC_ORDER_VALUES);
    const int t = (int)threadIdx.x, warp = t / ORDER_WARP;
    unsigned *mine = seen + warp * TNC_ORDER_VALUES;
    for (int64_t job = blockIdx.x; job < o.rows * o.blocks; job += gridDim.x) {
        const tnc_order_part p = tnc_order_part_of(o, job);
        const int64_t at = p.begin + warp * (ORDER_WARP * ORDER_OWN) + t % ORDER_WARP;
        tnc_item own[ORDER_OWN];
        unsigned rank[ORDER_OWN], count = 0;
        for (int w = 0; w < ORDER_WARPS; w++) seen[w * TNC_ORDER_VALUES + t] = 0;
        __syncthreads();
        TNC_UNROLL
        for (int j = 0; j < ORDER_OWN; j++) {
            const bool there = at + j * ORDER_WARP < p.end;
            own[j] = there ? o.from[at + j * ORDER_WARP] : tnc_item_last();
            rank[j] = tnc_order_rank(mine, tnc_order_digit(o, own[j]), there);
        }
        __syncthreads();
        /* Of each value: how many the warps before have, then where those of the block go. */
        for (int w = 0; w < ORDER_WARPS; w++) {
            const unsigned more = seen[w * TNC_ORDER_VALUES + t];
            seen[w * TNC_ORDER_VALUES + t] = count;
            count += more;
        }
        tnc_order_bases(o, p, count, first, further);
        TNC_UNROLL
        for (int j = 0; j < ORDER_OWN; j++) {
            const int digit = tnc_order_digit(o, own[j]);
            if (at + j * ORDER_WARP < p.end) slot[first[digit] + mine[digit] + rank[j]] = own[j];
        }
        __syncthreads();
        for (int k = t; k < (int)(p.end - p.begin); k += TNC_THREADS)
            o.to[p.row * o.n + further[tnc_order_digit(o, slot[k])] + k] = slot[k];
        __syncthreads();
    }
}

/* --- host ------------------------------------------------------------------------------------- */

/* Sorts tiles and keeps the first of each. Items a row of the result. */
static int64_t order_tiles(cudaStream_t s, const tnc_item *from, tnc_item *to, int64_t rows,
                           int64_t n, int64_t keep) {
    tnc_order_tiles o;
    int64_t each;
    memset(&o, 0, sizeof o);
    o.from = from;
    o.to = to;
    o.rows = rows;
    o.n = n;
    o.width = 1;
    while (o.width < n && o.width < TNC_ORDER_TILE) o.width *= 2;
    o.tiles = (n + o.width - 1) / o.width;
    o.keep = (int32_t)(keep < o.width ? keep : o.width);
    o.tile_out = o.keep;
    o.row_out = o.keep < o.width ? o.tiles * o.keep : n;
    each = TNC_ORDER_TILE / o.width;
    TNC_LAUNCH(tnc_order_tiles_kernel, tnc_blocks(rows * o.tiles, each), ORDER_PAIRS, s, o);
    return o.row_out;
}

static tnc_item *order_digits(cudaStream_t s, tnc_item *items, int64_t rows, int64_t n, int bits) {
    tnc_item *room = items + rows * n;
    tnc_order_digits o;
    memset(&o, 0, sizeof o);
    o.totals = (uint32_t *)(void *)(room + rows * n);
    o.counts = o.totals + rows * TNC_ORDER_VALUES;
    o.rows = rows;
    o.n = n;
    o.blocks = (n + TNC_ORDER_BLOCK - 1) / TNC_ORDER_BLOCK;
    for (; o.shift < bits; o.shift += 8) {
        tnc_item *other = items;
        o.from = items;
        o.to = room;
        TNC_LAUNCH(tnc_order_count, tnc_blocks(rows * o.blocks, 1), TNC_THREADS, s, o);
        TNC_LAUNCH(tnc_order_add, tnc_blocks(rows * TNC_ORDER_VALUES, ORDER_WARPS), TNC_THREADS, s,
                   o);
        TNC_LAUNCH(tnc_order_deal, tnc_blocks(rows * o.blocks, 1), TNC_THREADS, s, o);
        items = room;
        room = other;
    }
    return items;
}

TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, int64_t rows, int64_t n, int bits) {
    tnc_item *room = items + rows * n;
    if (rows < 1 || n < 1) return items;
    if (tnc_order_by_digits(n, bits)) return order_digits(s, items, rows, n, bits);
    order_tiles(s, items, items, rows, n, TNC_ORDER_TILE);
    for (int64_t width = TNC_ORDER_TILE; width < n; width *= 2) {
        tnc_order_merge o;
        tnc_item *other = items;
        o.from = items;
        o.to = room;
        o.rows = rows;
        o.n = n;
        o.tiles = (n + TNC_ORDER_TILE - 1) / TNC_ORDER_TILE;
        o.width = width;
        TNC_LAUNCH(tnc_order_merge_kernel, tnc_blocks(rows * o.tiles, 1), TNC_THREADS, s, o);
        items = room;
        room = other;
    }
    return items;
}

TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, int64_t rows, int64_t n,
                                   int64_t k, int bits, int64_t *row) {
    tnc_item *room = items + rows * n;
    *row = n;
    if (k > TNC_ORDER_TILE / 4) return tnc_order(s, items, rows, n, bits);
    if (rows < 1 || n < 1) return items;
    /* Of each tile only its first k can be among the row's. */
    while (n > TNC_ORDER_TILE) {
        tnc_item *other = items;
        n = order_tiles(s, items, room, rows, n, k);
        items = room;
        room = other;
    }
    order_tiles(s, items, items, rows, n, TNC_ORDER_TILE);
    *row = n;
    return items;
}
