/* median.cu - elements by their place in the order of a lane: kthvalue, median, nanmedian, mode, as
 * on the CPU (ops/indexing/order.c).
 *
 * Lanes become keys with their places and are sorted (order.cuh); a thread a lane then takes one.
 * */
#include "copy.cuh"
#include "families.cuh"
#include "keys.cuh"
#include "order.cuh"
#include "places.cuh"

enum { MEDIAN_KTH, MEDIAN_OF, MEDIAN_NOT_NAN, MEDIAN_MODE };

/* Lanes: operands self, values, places (not of medians of all). Elements of a lane: self's. */
struct tnc_median {
    tnc_far<3> lanes;
    tnc_far<1> along;
    const char *x;
    char *values;
    int64_t *indices; /* NULL: not wanted */
    tnc_item *items;
    int64_t k; /* counted from 0, of MEDIAN_KTH */
    int32_t dtype, kind;
    bool floats;
};

static __global__ void __launch_bounds__(TNC_THREADS) tnc_median_keys(tnc_median a) {
    for (int64_t i = TNC_FIRST(); i < a.lanes.n * a.along.n; i += TNC_STEP()) {
        const int64_t lane = i / a.along.n;
        tnc_item item;
        int64_t at[3], in[1];
        item.place = i - lane * a.along.n;
        tnc_far_to(a.lanes, lane, at);
        tnc_far_to(a.along, item.place, in);
        item.key = tnc_sort_key(a.x + at[0] + in[0], a.dtype);
        a.items[i] = item;
    }
}

/* The number of the median among n sorted items: the lower one of two. A NaN wins, or none
 * counts. */
TNC_FN int64_t tnc_median_at(const tnc_item *p, int64_t n, bool floats, bool skip) {
    int64_t low = 0, high = n; /* NaN are the last ones */
    while (floats && low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p[middle].key == TNC_KEY_NAN)
            high = middle;
        else
            low = middle + 1;
    }
    if (!floats) low = n;
    if (low == 0) return 0;
    return low < n && !skip ? low : (low - 1) / 2;
}
/* The number of the last of the commonest element, the smallest among equally common ones. A NaN
 * equals nothing. */
TNC_FN int64_t tnc_median_mode(const tnc_item *p, int64_t n, bool floats) {
    int64_t most = 0, at = 0, run = 0;
    for (int64_t i = 0; i < n; i++) {
        const bool same = i > 0 && p[i].key == p[i - 1].key && !(floats && p[i].key == TNC_KEY_NAN);
        run = same ? run + 1 : 1;
        if (run > most) {
            most = run;
            at = i;
        }
    }
    return at;
}
/* The lane's k-th item becomes its result. */
template <class E>
TNC_FN void tnc_median_give(const tnc_median &a, int64_t lane, int64_t k) {
    const tnc_item *p = a.items + lane * a.along.n;
    int64_t at[3], in[1];
    tnc_far_to(a.lanes, lane, at);
    tnc_far_to(a.along, p[k].place, in);
    *(E *)(a.values + at[1]) = *(const E *)(a.x + at[0] + in[0]);
    if (a.indices) *(int64_t *)((char *)a.indices + at[2]) = p[k].place;
}
template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_median_take(tnc_median a) {
    for (int64_t lane = TNC_FIRST(); lane < a.lanes.n; lane += TNC_STEP()) {
        const tnc_item *p = a.items + lane * a.along.n;
        int64_t k = a.k;
        if (a.kind == MEDIAN_MODE)
            k = tnc_median_mode(p, a.along.n, a.floats);
        else if (a.kind != MEDIAN_KTH)
            k = tnc_median_at(p, a.along.n, a.floats, a.kind == MEDIAN_NOT_NAN);
        tnc_median_give<E>(a, lane, k);
    }
}

/* If item i is the last of more than `run` equal ones: how many these are; else 0. */
TNC_FN int64_t tnc_median_run(const tnc_item *p, int64_t n, int64_t i, int64_t run, bool floats) {
    const uint64_t key = p[i].key;
    int64_t low = 0, high = i;
    if (floats && key == TNC_KEY_NAN) return run ? 0 : 1;
    if ((i + 1 < n && p[i + 1].key == key) || i < run || p[i - run].key != key) return 0;
    while (low < high) { /* the first of them */
        const int64_t middle = low + (high - low) / 2;
        if (p[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return i + 1 - low;
}
/* The mode of long lanes: a block each, whose threads look for the longest run. */
template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_median_modes(tnc_median a) {
    TNC_SHARED(int64_t, most, TNC_THREADS);
    TNC_SHARED(int64_t, last, TNC_THREADS);
    const int t = (int)threadIdx.x;
    for (int64_t lane = blockIdx.x; lane < a.lanes.n; lane += gridDim.x) {
        const tnc_item *p = a.items + lane * a.along.n;
        most[t] = last[t] = 0;
        for (int64_t i = t; i < a.along.n; i += TNC_THREADS) {
            const int64_t run = tnc_median_run(p, a.along.n, i, most[t], a.floats);
            if (!run) continue;
            most[t] = run;
            last[t] = i;
        }
        __syncthreads();
        for (int h = TNC_THREADS / 2; h; h /= 2) {
            if (t < h &&
                (most[t + h] > most[t] || (most[t + h] == most[t] && last[t + h] < last[t]))) {
                most[t] = most[t + h];
                last[t] = last[t + h];
            }
            __syncthreads();
        }
        if (t == 0) tnc_median_give<E>(a, lane, last[0]);
        __syncthreads();
    }
}

/* --- host ------------------------------------------------------------------------------------- */

static bool median_prepare(tn_frame *f) {
    const int64_t n = tn_numel(f->in[0]), lanes = tn_numel(f->out[0]);
    int64_t bytes;
    if (!n || !lanes) return true;
    if (!tnc_order_bytes(lanes, n / lanes, tnc_sort_bits(tn_dtype_of(f->in[0])), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void median_go(tn_frame *f, tnc_median a) {
    const cudaStream_t s = tnc_stream(f);
    const unsigned blocks = tnc_blocks(a.lanes.n, TNC_THREADS);
    a.items = (tnc_item *)f->scratch;
    TNC_LAUNCH_PLAIN(tnc_median_keys, tnc_blocks(a.lanes.n * a.along.n, TNC_THREADS), TNC_THREADS,
                     s, a);
    a.items = tnc_order(s, a.items, a.lanes.n, a.along.n, tnc_sort_bits(a.dtype));
#define MEDIAN_TAKE(E) TNC_LAUNCH_PLAIN((tnc_median_take<E>), blocks, TNC_THREADS, s, a)
#define MEDIAN_MODES(E) \
    TNC_LAUNCH((tnc_median_modes<E>), tnc_blocks(a.lanes.n, 1), TNC_THREADS, s, a)
    if (a.kind == MEDIAN_MODE && a.along.n > TNC_THREADS)
        TNC_MOVED(tnc_dtype_bytes(a.dtype), MEDIAN_MODES)
    else
        TNC_MOVED(tnc_dtype_bytes(a.dtype), MEDIAN_TAKE)
#undef MEDIAN_MODES
#undef MEDIAN_TAKE
}
static tnc_median median_of(const tn_operand &x, int kind, int64_t k) {
    tnc_median a;
    memset(&a, 0, sizeof a);
    a.x = x.at;
    a.k = k;
    a.dtype = x.dtype;
    a.kind = kind;
    a.floats = tnc_is_float(x.dtype);
    return a;
}
/* Lanes along dim. */
static void median_lanes(tn_frame *f, int kind, int64_t dim, bool keepdim, int64_t k) {
    const tn_operand x = tn_operand_of(f->in[0]), values = tn_operand_of(f->out[0]),
                     places = tn_operand_of(f->out[1]);
    const int d = tnc_dim(dim, x.ndim);
    tnc_median a = median_of(x, kind, k);
    tn_walk_plan p;
    if (!values.numel) return;
    a.values = values.at;
    a.indices = (int64_t *)(void *)places.at;
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < x.ndim; i++) {
        const int to = keepdim || i < d ? i : i - 1;
        if (i == d) continue;
        tnc_plan_within(&p, x.size[i], x.stride[i] * x.bytes, values.stride[to] * values.bytes,
                        places.stride[to] * places.bytes);
    }
    a.lanes = tnc_far_of<3>(p);
    tnc_plan_begin(&p, 1);
    if (x.ndim) tnc_plan_within(&p, x.size[d], x.stride[d] * x.bytes, 0, 0);
    a.along = tnc_far_of<1>(p);
    median_go(f, a);
}
static void kthvalue_run(tn_frame *f) {
    TN_ARGS(kthvalue, a, f);
    median_lanes(f, MEDIAN_KTH, a->dim, a->keepdim, a->k - 1);
}
static void median_dim_run(tn_frame *f) {
    TN_ARGS(median_dim, a, f);
    median_lanes(f, MEDIAN_OF, a->dim, a->keepdim, 0);
}
static void nanmedian_dim_run(tn_frame *f) {
    TN_ARGS(nanmedian_dim, a, f);
    median_lanes(f, MEDIAN_NOT_NAN, a->dim, a->keepdim, 0);
}
static void mode_run(tn_frame *f) {
    TN_ARGS(mode, a, f);
    median_lanes(f, MEDIAN_MODE, a->dim, a->keepdim, 0);
}

/* All elements are one lane. Of none it is NaN; of integers what NaN is converted to in torch. */
static void median_all(tn_frame *f, int kind) {
    const tn_operand x = tn_operand_of(f->in[0]);
    const tn_dtype dtype = (tn_dtype)x.dtype;
    tnc_median a = median_of(x, kind, 0);
    tn_walk_plan p;
    if (!x.numel) {
        const int64_t least = dtype == TN_I64 ? INT64_MIN : dtype == TN_I32 ? INT32_MIN : 0;
        tnc_pair unit = {{0, 0}};
        tn_scalar_element(a.floats || dtype == TN_BOOL ? tn_float((double)NAN) : tn_int(least),
                          dtype, &unit);
        tnc_fill(tn_frame_device(f), f->out[0], &unit);
        return;
    }
    a.values = (char *)tn_device_data(f->out[0]);
    tnc_plan_begin(&p, 3);
    a.lanes = tnc_far_of<3>(p);
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < x.ndim; i++) tnc_plan_within(&p, x.size[i], x.stride[i] * x.bytes, 0, 0);
    a.along = tnc_far_of<1>(p);
    median_go(f, a);
}
static void median_run(tn_frame *f) { median_all(f, MEDIAN_OF); }
static void nanmedian_run(tn_frame *f) { median_all(f, MEDIAN_NOT_NAN); }

static const tn_device_row median_table[] = {
    {"kthvalue", false, NULL, median_prepare, kthvalue_run},
    {"median_dim", false, NULL, median_prepare, median_dim_run},
    {"nanmedian_dim", false, NULL, median_prepare, nanmedian_dim_run},
    {"mode", false, NULL, median_prepare, mode_run},
    {"median", false, NULL, median_prepare, median_run},
    {"nanmedian", false, NULL, median_prepare, nanmedian_run}};
TNC_FAMILY(median, median_table)
