/* order.cu - a stable sort by merging (Knuth, The Art of Computer Programming 3, 5.2.4): tiles of
 * 1024 items in shared memory by a bitonic network (K. Batcher, AFIPS 1968), short rows several a
 * tile; then runs of doubling width, each block a tile of the result, whose parts it finds by
 * bisection (O. Green, R. McColl, D. Bader, GPU Merge Path, ICS 2012). Global memory is read and
 * written once a pass, 16 bytes an item. */
#include "order.cuh"

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

TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                             int64_t n) {
    if (rows < 1 || n < 1) return items;
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

TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                                   int64_t n, int64_t k, int64_t *row) {
    *row = n;
    if (k > TNC_ORDER_TILE / 4) return tnc_order(s, items, room, rows, n);
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
