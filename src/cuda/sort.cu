/* sort.cu - sort, topk, searchsorted, bucketize: stable, NaN the largest, as on the CPU.
 *
 * Elements become 64-bit keys that compare as unsigned numbers, with their places. Rows of them are
 * sorted (order.cuh), and a thread for each element fetches it by place. topk takes the first of
 * each tile, then the first of these, so a few of many cost a pass or two; it sorts them even where
 * the call does not ask for that. Each searched value has a thread, which bisects. */
#include "families.cuh"
#include "keys.cuh"
#include "order.cuh"
#include "places.cuh"

/* --- sort, topk ------------------------------------------------------------------------------- */

/* Lanes along the dimension that is sorted; operands: self, values, indices. */
struct tnc_sort {
    tnc_far<3> lanes;
    const char *x;
    char *values;
    int64_t *indices;
    tnc_item *items;
    int64_t n, k, row; /* elements of a lane, those of the result, items from lane to lane */
    int64_t step[3];   /* bytes along a lane */
    uint64_t turn;     /* all ones: descending */
    int32_t dtype;
};

static __global__ void __launch_bounds__(TNC_THREADS) tnc_sort_keys(tnc_sort a) {
    for (int64_t i = TNC_FIRST(); i < a.lanes.n * a.n; i += TNC_STEP()) {
        const int64_t lane = i / a.n;
        tnc_item item;
        int64_t at[3];
        tnc_far_to(a.lanes, lane, at);
        item.place = i - lane * a.n;
        item.key = tnc_sort_key(a.x + at[0] + item.place * a.step[0], a.dtype) ^ a.turn;
        a.items[i] = item;
    }
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_sort_fetch(tnc_sort a) {
    for (int64_t i = TNC_FIRST(); i < a.lanes.n * a.k; i += TNC_STEP()) {
        const int64_t lane = i / a.k, j = i - lane * a.k, place = a.items[lane * a.row + j].place;
        int64_t at[3];
        tnc_far_to(a.lanes, lane, at);
        *(E *)(a.values + at[1] + j * a.step[1]) = *(const E *)(a.x + at[0] + place * a.step[0]);
        *(int64_t *)((char *)a.indices + at[2] + j * a.step[2]) = place;
    }
}

/* Lanes of self along d, k of each in the results. */
static tnc_sort sort_of(const tn_frame *f, int d, int64_t k, bool descending) {
    const tn_operand x = tn_operand_of(f->in[0]), values = tn_operand_of(f->out[0]),
                     indices = tn_operand_of(f->out[1]);
    tn_walk_plan p;
    tnc_sort a;
    memset(&a, 0, sizeof a);
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < x.ndim; i++) {
        if (i == d) continue;
        tnc_plan_within(&p, x.size[i], x.stride[i] * x.bytes, values.stride[i] * values.bytes,
                        indices.stride[i] * indices.bytes);
    }
    a.lanes = tnc_far_of<3>(p);
    a.x = x.at;
    a.values = values.at;
    a.indices = (int64_t *)(void *)indices.at;
    a.n = x.ndim ? x.size[d] : 1;
    a.k = k;
    a.step[0] = x.ndim ? x.stride[d] * x.bytes : 0;
    a.step[1] = x.ndim ? values.stride[d] * values.bytes : 0;
    a.step[2] = x.ndim ? indices.stride[d] * indices.bytes : 0;
    a.turn = descending ? ~(uint64_t)0 : 0;
    a.dtype = x.dtype;
    return a;
}

static bool sort_lanes_prepare(tn_frame *f, int64_t dim) {
    const tn_operand x = tn_operand_of(f->in[0]);
    const int64_t n = x.ndim ? x.size[tnc_dim(dim, x.ndim)] : 1;
    int64_t bytes;
    if (!tn_numel(f->out[0])) return true;
    if (!tnc_order_bytes(x.numel / n, n, tnc_sort_bits(x.dtype), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void sort_lanes(tn_frame *f, tnc_sort a, bool all) {
    const cudaStream_t s = tnc_stream(f);
    const unsigned blocks = tnc_blocks(a.lanes.n * a.k, TNC_THREADS);
    const int bytes = tnc_dtype_bytes(a.dtype);
    const int bits = tnc_sort_bits(a.dtype);
    if (!tn_numel(f->out[0])) return;
    a.items = (tnc_item *)f->scratch;
    TNC_LAUNCH_PLAIN(tnc_sort_keys, tnc_blocks(a.lanes.n * a.n, TNC_THREADS), TNC_THREADS, s, a);
    a.row = a.n;
    if (all)
        a.items = tnc_order(s, a.items, a.lanes.n, a.n, bits);
    else
        a.items = tnc_order_first(s, a.items, a.lanes.n, a.n, a.k, bits, &a.row);
#define SORT_FETCH(E) TNC_LAUNCH_PLAIN((tnc_sort_fetch<E>), blocks, TNC_THREADS, s, a)
    TNC_MOVED(bytes, SORT_FETCH)
#undef SORT_FETCH
}

static bool sort_prepare(tn_frame *f) {
    TN_ARGS(sort, a, f);
    return sort_lanes_prepare(f, a->dim);
}
static void sort_run(tn_frame *f) {
    TN_ARGS(sort, a, f);
    const tn_operand x = tn_operand_of(f->in[0]);
    const int d = tnc_dim(a->dim, x.ndim);
    sort_lanes(f, sort_of(f, d, x.ndim ? x.size[d] : 1, a->descending), true);
}
static bool topk_prepare(tn_frame *f) {
    TN_ARGS(topk, a, f);
    return sort_lanes_prepare(f, a->dim);
}
static void topk_run(tn_frame *f) {
    TN_ARGS(topk, a, f);
    const int ndim = (int)tn_ndim(f->in[0]);
    sort_lanes(f, sort_of(f, tnc_dim(a->dim, ndim), ndim ? a->k : 1, a->largest), false);
}

/* --- searchsorted, bucketize ------------------------------------------------------------------ */

/* Operands of the walk: the result, the values, the first boundary of a value's row, and of the
 * sorter's. */
struct tnc_search {
    tnc_far<4> w;
    char *to;
    const char *values, *edges, *order; /* values NULL: `one` is the only one; order NULL: none */
    tnc_pair one;
    int64_t n, edge, next; /* boundaries a row; bytes from one to the next, and of the sorter */
    tnc_watch watch;
    uint8_t values_dtype, edges_dtype, common;
    bool right, narrow; /* narrow: places are int32 */
};

/* An element in the common dtype, as a double, which holds all floats, or an int64. */
TNC_FN double tnc_search_as(const char *at, int from, int common, double) {
    if (common == TN_F64) return tnc_load_real<double>(at, from);
    return (double)tnc_through(tnc_load_real<float>(at, from), common);
}
TNC_FN int64_t tnc_search_as(const char *at, int from, int common, int64_t) {
    return tnc_through(tnc_load_real<int64_t>(at, from), common);
}

/* How many boundaries come before the value: no comparison with a NaN is true. */
template <class T>
TNC_FN int64_t tnc_search_place(const tnc_search &a, const char *edge, const char *order, T value) {
    int64_t low = 0, high = a.n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, k = middle;
        if (order) k = tnc_get<int64_t>(order + middle * a.next);
        if (k < 0 || k >= a.n) {
            tnc_tell(a.watch, k, a.n);
            k = 0;
        }
        const T e = tnc_search_as(edge + k * a.edge, a.edges_dtype, a.common, T());
        if (a.right ? e > value : e >= value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_search_kernel(tnc_search a) {
    for (int64_t i = TNC_FIRST(); i < a.w.n; i += TNC_STEP()) {
        int64_t at[4], place;
        T value;
        tnc_far_to(a.w, i, at);
        if (a.values) {
            value = tnc_search_as(a.values + at[1], a.values_dtype, a.common, T());
        } else {
            const tnc_pair one = a.one;
            value = tnc_search_as((const char *)&one, a.common, a.common, T());
        }
        place = tnc_search_place<T>(a, a.edges + at[2], a.order ? a.order + at[3] : NULL, value);
        if (a.narrow)
            tnc_put<int32_t>(a.to + at[0], (int32_t)place);
        else
            tnc_put<int64_t>(a.to + at[0], place);
    }
}

static void search_run(tn_frame *f, tn_tensor *boundaries, tn_tensor *searched, tn_tensor *sorter,
                       bool right) {
    const tn_operand edges = tn_operand_of(boundaries), values = tn_operand_of(searched),
                     order = tn_operand_of(sorter), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const int last = edges.ndim - 1;
    tn_tensor *pair[2] = {boundaries, searched};
    const tn_dtype common = tn_operands_dtype(f, pair, 2);
    tn_walk_plan p;
    tnc_search a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.watch = tnc_watch_of(f);
    tnc_plan_begin(&p, 4);
    for (int d = 0; d < out.ndim; d++) {
        const bool row = last > 0 && d < last; /* a matrix has a row for each row of values */
        tnc_plan_within(&p, out.size[d], out.stride[d] * out.bytes, values.stride[d] * values.bytes,
                        row ? edges.stride[d] * edges.bytes : 0,
                        row && sorter ? order.stride[d] * order.bytes : 0);
    }
    a.w = tnc_far_of<4>(p);
    a.to = out.at;
    a.values = values.on_host ? NULL : values.at;
    if (values.on_host) tn_operand_number(searched, common, &a.one);
    a.edges = edges.at;
    a.order = sorter ? order.at : NULL;
    a.n = edges.size[last];
    a.edge = edges.stride[last] * edges.bytes;
    a.next = sorter ? order.stride[last] * order.bytes : 0;
    a.values_dtype = values.dtype;
    a.edges_dtype = edges.dtype;
    a.common = (uint8_t)common;
    a.right = right;
    a.narrow = out.dtype == TN_I32;
    if (common == TN_F16 || common == TN_BF16 || common == TN_F32 || common == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_search_kernel<double>), tnc_blocks(a.w.n, TNC_THREADS), TNC_THREADS,
                         s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_search_kernel<int64_t>), tnc_blocks(a.w.n, TNC_THREADS), TNC_THREADS,
                         s, a);
}
static void searchsorted_run(tn_frame *f) {
    TN_ARGS(searchsorted, a, f);
    search_run(f, f->in[0], f->in[1], f->in[2],
               a->right || (a->side && strcmp(a->side, "right") == 0));
}
static void bucketize_run(tn_frame *f) {
    TN_ARGS(bucketize, a, f);
    search_run(f, f->in[1], f->in[0], NULL, a->right);
}

static const tn_device_row sort_table[] = {{"sort", false, NULL, sort_prepare, sort_run},
                                           {"topk", false, NULL, topk_prepare, topk_run},
                                           {"searchsorted", false, NULL, NULL, searchsorted_run},
                                           {"bucketize", false, NULL, NULL, bucketize_run}};
TNC_FAMILY(sort, sort_table)
