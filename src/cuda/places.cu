/* places.cu - tables of places: where each place of an index shape lies in a tensor, in bytes from
 * its first element. A thread has a place; indices mostly lie in the table's order, so reads and
 * writes are coalesced. */
#include "chosen.cuh"

/* --- indices ---------------------------------------------------------------------------------- */

template <class I>
__global__ void __launch_bounds__(TNC_THREADS) tnc_place_kernel(tnc_walk<3> w, tnc_indices x) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3], v, k, *to;
        tnc_walk_to(w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(w.at[1] + at[1]);
        v = (w.at[2] + at[2]) - x.base;
        to = (int64_t *)(w.at[0] + at[0]);
        if (k < x.low || k >= x.bound) {
            tnc_tell(x.watch, k, x.bound);
            if (x.marks) v = -1;
        } else if (k == x.skip) {
            v = -1;
        } else {
            v += (k < 0 ? k + x.bound : k) * x.step;
        }
        if (x.adds) v = v < 0 || *to < 0 ? -1 : v + *to;
        *to = v;
    }
}

TNC_PRIV void tnc_place_indices(cudaStream_t s, const tn_walk_plan &p, const tnc_indices &x) {
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        if (x.dtype == TN_I64)
            TNC_LAUNCH_PLAIN((tnc_place_kernel<int64_t>), blocks, TNC_THREADS, s, w, x);
        else
            TNC_LAUNCH_PLAIN((tnc_place_kernel<int32_t>), blocks, TNC_THREADS, s, w, x);
    });
}

/* --- masks ------------------------------------------------------------------------------------ */

/* The places of a mask's true elements, operand 1 of its walk. */
struct tnc_place_true {
    int64_t *to, most;
    TNC_FN void hit(const tnc_place_true &s, const int64_t *at, int64_t, int64_t rank) {
        if (rank < s.most) s.to[rank] = at[1];
    }
    TNC_FN void miss(const tnc_place_true &, const int64_t *, int64_t, int64_t) {}
};

/* What a mask adds to each place: its true elements lie along the last dimension of the index
 * shape; a single one is broadcast. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_place_mask(int64_t *to, int64_t n, int64_t last, const int64_t *room, const int64_t *found,
                   bool adds) {
    const bool one = *found == 1;
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP()) {
        const int64_t v = room[one ? 0 : i % last];
        to[i] = !adds ? v : to[i] < 0 ? -1 : to[i] + v;
    }
}

/* The walk over a mask that stands for t's dimensions from `at` on. */
static tnc_chosen places_mask(const tn_tensor *mask, const tn_operand *t, int at) {
    const tn_operand m = tn_operand_of(mask);
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    for (int d = 0; d < m.ndim; d++)
        tnc_plan_within(&p, m.size[d], m.stride[d] * m.bytes, t ? t->stride[at + d] * t->bytes : 0,
                        0);
    return tnc_chosen_of(p, m);
}

/* --- tables ----------------------------------------------------------------------------------- */

static int64_t places_last(const tn_index_plan *p) {
    const int64_t last = p->index_ndim ? p->index_size[p->index_ndim - 1] : 1;
    return last > 1 ? last : 1;
}

TNC_PRIV int64_t tnc_table_size(tn_index_plan *p, int64_t count) {
    int64_t n = 1;
    for (int i = 0; i < p->index_ndim; i++) {
        if (p->index_size[i] == TN_UNKNOWN) p->index_size[i] = count;
        n *= p->index_size[i];
    }
    for (int i = 0; i < p->ndim; i++)
        if (p->size[i] == TN_UNKNOWN) p->size[i] = count;
    return n;
}

/* The table, what a mask is true at, and the counts of its tiles. */
TNC_PRIV bool tnc_table_bytes(const tn_index_plan *p, int64_t n, int64_t *bytes) {
    int64_t places = n;
    if (p->masks) places += places_last(p) + p->masks / TNC_TILE + 2;
    return !__builtin_mul_overflow(places, 8, bytes);
}

/* The walk of index tensor x over the index shape, beside the table. */
static void places_walk(tn_walk_plan *p, const tn_index_plan *plan, const tn_operand &x,
                        const tnc_table &table) {
    int64_t step = table.n * 8;
    tnc_plan_begin(p, 3);
    for (int i = 0; i < plan->index_ndim; i++) {
        const int d = i - (plan->index_ndim - x.ndim);
        step /= plan->index_size[i];
        tnc_plan_within(p, plan->index_size[i], step,
                        d >= 0 && x.size[d] != 1 ? x.stride[d] * x.bytes : 0, 0);
    }
    p->at[0] = (char *)table.at;
    p->at[1] = x.at;
}

static void places_true(cudaStream_t s, const tn_tensor *mask, const tn_operand &t, int at,
                        const tn_index_plan *p, const tnc_table &table, bool adds) {
    tnc_chosen c = places_mask(mask, &t, at);
    tnc_place_true sink;
    sink.most = places_last(p);
    sink.to = table.at + table.n;
    c.counts = sink.to + sink.most;
    tnc_chosen_count(s, c);
    tnc_chosen_run(s, c, sink);
    TNC_LAUNCH_PLAIN(tnc_place_mask, tnc_blocks(table.n, TNC_THREADS), TNC_THREADS, s, table.at,
                     table.n, sink.most, sink.to, c.counts + c.tiles, adds);
}

TNC_PRIV void tnc_table_run(tn_frame *f, const tn_operand &t, tn_tensor *const *index, int n,
                            const tn_index_plan *p, const tnc_table &table, bool marks) {
    const cudaStream_t s = tnc_stream(f);
    tnc_indices x;
    bool adds = false;
    int at = 0;
    memset(&x, 0, sizeof x);
    x.watch = tnc_watch_of(f);
    x.skip = INT64_MIN;
    x.marks = marks;
    x.base = t.at;
    for (int i = 0; i < n && table.n; i++) {
        tn_walk_plan w;
        if (index[i] && tnc_is_mask(index[i])) {
            places_true(s, index[i], t, at, p, table, adds);
            at += (int)tn_ndim(index[i]);
            adds = true;
            continue;
        }
        if (index[i]) {
            const tn_operand o = tn_operand_of(index[i]);
            places_walk(&w, p, o, table);
            w.at[2] = t.at;
            x.dtype = o.dtype;
            x.bound = t.size[at];
            x.low = -t.size[at];
            x.step = t.stride[at] * t.bytes;
            x.adds = adds;
            tnc_place_indices(s, w, x);
            adds = true;
        }
        at++;
    }
}

TNC_PRIV bool tnc_table_look(tn_frame *f, tn_tensor *const *index, int n, const tn_index_plan *p,
                             int64_t *count) {
    *count = 1;
    for (int i = 0; i < n; i++) {
        int64_t found;
        if (!index[i] || !tnc_is_mask(index[i])) continue;
        if (!tnc_chosen_look(f, places_mask(index[i], NULL, 0), &found) ||
            !tn_index_mask(f, p, found, count))
            return false;
    }
    return true;
}
