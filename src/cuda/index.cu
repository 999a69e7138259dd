/* index.cu - elements chosen by tensors of indices and masks: gather, index_select, embedding,
 * index, one_hot, masked_fill, masked_select, nonzero.
 *
 * A thread has an element of the result, or 16 bytes of it where whole slices are taken, so writes
 * are coalesced and so are reads within a slice. What masks choose is numbered by tiles
 * (chosen.cuh). */
#include "chosen.cuh"
#include "copy.cuh"
#include "families.cuh"
#include "memory.cuh"

/* --- elements by index: gather, index_select, embedding, index -------------------------------- */

/* Operand 0 is the result, 1 the tensor at index 0, 2 the index. */
struct tnc_index_take {
    tnc_walk<3> w;
    int64_t step, low, bound; /* as in tnc_indices */
    tnc_watch watch;
};

template <class E, class I>
__global__ void __launch_bounds__(TNC_THREADS) tnc_index_take_kernel(tnc_index_take a) {
    for (int64_t i = TNC_FIRST(); i < a.w.n; i += TNC_STEP()) {
        int64_t at[3], k;
        E e = E();
        tnc_walk_to(a.w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(a.w.at[2] + at[2]);
        if (k < a.low || k >= a.bound) {
            tnc_tell(a.watch, k, a.bound);
            k = 0;
        }
        if (k < 0) k += a.bound;
        if (a.bound) e = *(const E *)(a.w.at[1] + at[1] + k * a.step);
        *(E *)(a.w.at[0] + at[0]) = e;
    }
}

/* `steps`: the bits of all distances, in bytes, between places that indices name. */
static void index_take(cudaStream_t s, tn_walk_plan *p, tnc_index_take a, int bytes, int dtype,
                       int64_t steps) {
    const int unit = tnc_plan_widen(p, bytes, steps);
    tnc_walk_pieces<3>(*p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        a.w = w;
#define INDEX_TAKE(E)                                                                     \
    if (dtype == TN_I64)                                                                  \
        TNC_LAUNCH_PLAIN((tnc_index_take_kernel<E, int64_t>), blocks, TNC_THREADS, s, a); \
    else                                                                                  \
        TNC_LAUNCH_PLAIN((tnc_index_take_kernel<E, int32_t>), blocks, TNC_THREADS, s, a)
        TNC_MOVED(unit, INDEX_TAKE)
#undef INDEX_TAKE
    });
}

/* Begins a walk over result, x and index, and what is said of the index. */
static tnc_index_take index_begin(const tn_frame *f, tn_walk_plan *p, const tn_operand &out,
                                  const tn_operand &x, const tn_operand &index) {
    tnc_index_take a;
    memset(&a, 0, sizeof a);
    a.watch = tnc_watch_of(f);
    tnc_plan_begin(p, 3);
    p->at[0] = out.at;
    p->at[1] = x.at;
    p->at[2] = index.at;
    return a;
}

static void gather_run(tn_frame *f) {
    TN_ARGS(gather, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], out.stride[i] * out.bytes,
                        i == d || i >= x.ndim ? 0 : x.stride[i] * x.bytes,
                        index.stride[i] * index.bytes);
    a.step = x.ndim ? x.stride[d] * x.bytes : 0;
    a.bound = x.ndim ? x.size[d] : 1;
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

static void index_select_run(tn_frame *f) {
    TN_ARGS(index_select, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    const int64_t next = index.ndim ? index.stride[0] * index.bytes : 0;
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < x.ndim; i++)
        tnc_plan_within(&p, out.size[i], out.stride[i] * out.bytes,
                        i == d ? 0 : x.stride[i] * x.bytes, i == d ? next : 0);
    a.step = x.ndim ? x.stride[d] * x.bytes : 0;
    a.bound = x.ndim ? x.size[d] : 1;
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

static void embedding_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], out.stride[i] * out.bytes, 0,
                        index.stride[i] * index.bytes);
    tnc_plan_within(&p, x.size[1], out.stride[index.ndim] * out.bytes, x.stride[1] * x.bytes, 0);
    a.step = x.stride[0] * x.bytes;
    a.bound = x.size[0];
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

/* --- index ------------------------------------------------------------------------------------ */

/* The only index and the dimension that it names, if one tensor is all; else -1. */
static int index_single(tn_tensor *const *index, int n) {
    int at = -1;
    for (int i = 0; i < n; i++) {
        if (!index[i]) continue;
        if (at >= 0 || tnc_is_mask(index[i])) return -1;
        at = i;
    }
    return at;
}

static bool index_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p) &&
           tnc_table_look(f, f->in + 1, f->nin - 1, &p, &f->count);
}
static bool index_prepare(tn_frame *f) {
    tn_index_plan p;
    int64_t n, bytes;
    if (!tn_numel(f->out[0]) || index_single(f->in + 1, f->nin - 1) >= 0) return true;
    if (!tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p)) return false;
    n = tnc_table_size(&p, f->count);
    if (!tnc_table_bytes(&p, n, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void index_run(tn_frame *f) {
    tn_tensor **index = f->in + 1;
    const int n = f->nin - 1, single = index_single(index, n);
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    tn_operand places;
    tn_index_plan plan;
    tn_walk_plan p;
    tnc_index_take a;
    tnc_table table;
    int64_t steps = 0, each = 8;
    if (!out.numel || !tn_index_plan_of(f, f->in[0], index, n, &plan)) return;
    table.n = tnc_table_size(&plan, f->count);
    table.at = (int64_t *)f->scratch;
    places = tn_operand_of(index[single < 0 ? 0 : single]);
    a = index_begin(f, &p, out, x, places);
    if (single < 0) {
        tnc_table_run(f, x, index, n, &plan, table, false);
        p.at[2] = (char *)table.at;
        each *= table.n;
    }
    for (int i = 0; i < plan.place; i++)
        tnc_plan_within(&p, plan.size[i], out.stride[i] * out.bytes,
                        x.stride[plan.keep[i]] * x.bytes, 0);
    for (int i = 0; i < plan.index_ndim; i++) {
        each /= single < 0 ? plan.index_size[i] : 1;
        tnc_plan_within(&p, plan.index_size[i], out.stride[plan.place + i] * out.bytes, 0,
                        single < 0 ? each : places.stride[i] * places.bytes);
    }
    for (int i = plan.place; i < plan.kept; i++)
        tnc_plan_within(&p, x.size[plan.keep[i]], out.stride[i + plan.index_ndim] * out.bytes,
                        x.stride[plan.keep[i]] * x.bytes, 0);
    for (int i = 0; i < x.ndim; i++) steps |= x.stride[i] * x.bytes;
    a.step = single < 0 ? 1 : x.stride[single] * x.bytes;
    a.bound = single >= 0 ? x.size[single] : x.numel ? INT64_MAX : 0;
    a.low = single >= 0 ? -a.bound : 0;
    index_take(tnc_stream(f), &p, a, x.bytes, single < 0 ? (int)TN_I64 : places.dtype,
               single < 0 ? steps : a.step);
}

/* --- one_hot ---------------------------------------------------------------------------------- */

/* One block: the least and the largest of all elements. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_one_hot_ends(tnc_far<1> w, const char *x, int64_t *ends) {
    TNC_SHARED(int64_t, low, TNC_THREADS);
    TNC_SHARED(int64_t, high, TNC_THREADS);
    const int t = (int)threadIdx.x;
    low[t] = INT64_MAX;
    high[t] = INT64_MIN;
    for (int64_t i = t; i < w.n; i += TNC_THREADS) {
        int64_t at[1], v;
        tnc_far_to(w, i, at);
        v = tnc_get<int64_t>(x + at[0]);
        if (v < low[t]) low[t] = v;
        if (v > high[t]) high[t] = v;
    }
    __syncthreads();
    for (int h = TNC_THREADS / 2; h; h /= 2) {
        if (t < h && low[t + h] < low[t]) low[t] = low[t + h];
        if (t < h && high[t + h] > high[t]) high[t] = high[t + h];
        __syncthreads();
    }
    if (t) return;
    ends[0] = low[0];
    ends[1] = high[0];
}

/* Operand 0 is the result at class 0, 1 the classes. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_one_hot_kernel(tnc_walk<2> w, int64_t classes, tnc_watch watch) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2], v;
        tnc_walk_to(w, (uint32_t)i, at);
        v = tnc_get<int64_t>(w.at[1] + at[1]);
        if (v < 0 || v >= classes)
            tnc_tell(watch, v, classes);
        else
            tnc_put<int64_t>(w.at[0] + at[0] + v * 8, 1);
    }
}

/* Where the result's size is the largest class plus one, it is looked for. */
static bool one_hot_look(tn_frame *f) {
    TN_ARGS(one_hot, a, f);
    const int32_t device = tn_frame_device(f);
    const tn_operand x = tn_operand_of(f->in[0]);
    int64_t *ends, found[2];
    tn_walk_plan p;
    bool done;
    if (a->num_classes != -1 || !x.numel) return true;
    tn_walk_plan_of(&p, f->in, 1);
    ends = (int64_t *)tnc_alloc_for(f, sizeof found);
    if (!ends) return false;
    TNC_LAUNCH(tnc_one_hot_ends, 1, TNC_THREADS, tnc_stream(f), tnc_far_of<1>(p), x.at, ends);
    done = tnc_look_at(f, found, ends, sizeof found);
    tnc_free(device, ends);
    if (!done) return false;
    if (found[0] < 0) return tn_fail(f, TN_INDEX, "Class values must be non-negative.");
    if (found[1] == INT64_MAX) return tn_fail(f, TN_INVALID, "the result is too large");
    f->count = found[1] + 1;
    return true;
}
static void one_hot_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const int64_t zero = 0;
    const tnc_watch watch = tnc_watch_of(f);
    tn_walk_plan p;
    if (!out.numel) return;
    tnc_fill(tn_frame_device(f), f->out[0], &zero);
    tnc_plan_begin(&p, 2);
    for (int d = 0; d < x.ndim; d++)
        tnc_plan_within(&p, x.size[d], out.stride[d] * 8, x.stride[d] * 8, 0);
    p.at[0] = out.at;
    p.at[1] = x.at;
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        TNC_LAUNCH_PLAIN(tnc_one_hot_kernel, tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w,
                         out.size[x.ndim], watch);
    });
}

/* --- masks ------------------------------------------------------------------------------------ */

/* Operand 0 is the result, 1 the mask, 2 self. The unit lies on the device, or is a number. */
template <class E>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_masked_fill_kernel(tnc_walk<3> w, const char *unit_at, tnc_pair unit) {
    E e;
    if (unit_at)
        e = *(const E *)unit_at;
    else
        memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        tnc_walk_to(w, (uint32_t)i, at);
        char *to = w.at[0] + at[0];
        const char *from = w.at[2] + at[2];
        if (tnc_get<uint8_t>(w.at[1] + at[1]))
            *(E *)to = e;
        else if (to != from)
            *(E *)to = *(const E *)from;
    }
}

/* A value on the device, of another dtype, is converted there. */
static bool masked_fill_prepare(tn_frame *f) {
    const tn_operand value = tn_operand_of(f->in[2]);
    if (value.on_host || value.dtype == tn_dtype_of(f->out[0])) return true;
    return tn_device_scratch(f, 16) != NULL;
}
static void masked_fill_run(tn_frame *f) {
    tn_tensor *all[3] = {f->out[0], f->in[1], f->in[0]};
    const tn_operand value = tn_operand_of(f->in[2]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const char *unit_at = value.at;
    tnc_pair unit = {{0, 0}};
    tn_walk_plan p;
    if (!out.numel) return;
    if (value.on_host) {
        tn_operand_number(f->in[2], (tn_dtype)out.dtype, &unit);
        unit_at = NULL;
    } else if (value.dtype != out.dtype) {
        tnc_convert_one(s, (char *)f->scratch, out.dtype, value.at, value.dtype);
        unit_at = (const char *)f->scratch;
    }
    tn_walk_plan_of(&p, all, 3);
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define INDEX_FILL(E) \
    TNC_LAUNCH_PLAIN((tnc_masked_fill_kernel<E>), blocks, TNC_THREADS, s, w, unit_at, unit)
        TNC_MOVED(out.bytes, INDEX_FILL)
#undef INDEX_FILL
    });
}

/* The shape that self and the mask broadcast to, walked over mask and self. */
static tnc_chosen index_masked(const tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), mask = tn_operand_of(f->in[1]);
    const int ndim = x.ndim > mask.ndim ? x.ndim : mask.ndim;
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < ndim; i++) {
        const int a = i - (ndim - x.ndim), b = i - (ndim - mask.ndim);
        const int64_t na = a < 0 ? 1 : x.size[a], nb = b < 0 ? 1 : mask.size[b];
        tnc_plan_within(&p, na == 1 ? nb : na, nb == 1 ? 0 : mask.stride[b] * mask.bytes,
                        na == 1 ? 0 : x.stride[a] * x.bytes, 0);
    }
    return tnc_chosen_of(p, mask);
}

template <class E>
struct tnc_index_select_true {
    E *to;
    const char *from;
    int64_t most; /* places: a mask that is written meanwhile may have more */
    TNC_FN void hit(const tnc_index_select_true &s, const int64_t *at, int64_t, int64_t rank) {
        if (rank < s.most) s.to[rank] = *(const E *)(s.from + at[1]);
    }
    TNC_FN void miss(const tnc_index_select_true &, const int64_t *, int64_t, int64_t) {}
};

static bool masked_select_look(tn_frame *f) {
    return tnc_chosen_look(f, index_masked(f), &f->count);
}
static bool masked_select_prepare(tn_frame *f) {
    return !f->count || tn_device_scratch(f, tnc_chosen_bytes(index_masked(f))) != NULL;
}
static void masked_select_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tnc_chosen c = index_masked(f);
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    tnc_chosen_count(s, c);
#define INDEX_SELECT(E)                                                       \
    {                                                                         \
        const tnc_index_select_true<E> sink = {(E *)out.at, x.at, out.numel}; \
        tnc_chosen_run(s, c, sink);                                           \
    }
    TNC_MOVED(out.bytes, INDEX_SELECT)
#undef INDEX_SELECT
}

/* --- nonzero ---------------------------------------------------------------------------------- */

struct tnc_nonzero_true {
    int64_t *to, apart[2]; /* from a found one to the next, from a dimension to the next */
    int64_t size[TN_MAX_DIMS];
    int32_t ndim;
    int64_t most; /* found ones, as above */
    TNC_FN void hit(const tnc_nonzero_true &s, const int64_t *, int64_t i, int64_t rank) {
        for (int d = s.ndim - 1; d >= 0 && rank < s.most; d--) {
            const int64_t q = i / s.size[d];
            s.to[rank * s.apart[0] + d * s.apart[1]] = i - q * s.size[d];
            i = q;
        }
    }
    TNC_FN void miss(const tnc_nonzero_true &, const int64_t *, int64_t, int64_t) {}
};

static tnc_chosen nonzero_walk(const tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]);
    tn_walk_plan p;
    tnc_plan_begin(&p, 1);
    for (int d = 0; d < x.ndim; d++) tnc_plan_within(&p, x.size[d], x.stride[d] * x.bytes, 0, 0);
    return tnc_chosen_of(p, x);
}
static bool nonzero_look(tn_frame *f) { return tnc_chosen_look(f, nonzero_walk(f), &f->count); }
static bool nonzero_prepare(tn_frame *f) {
    return !f->count || tn_device_scratch(f, tnc_chosen_bytes(nonzero_walk(f))) != NULL;
}
static void nonzero_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    tnc_chosen c = nonzero_walk(f);
    tnc_nonzero_true sink;
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    sink.to = (int64_t *)(void *)out.at;
    sink.apart[0] = out.stride[0];
    sink.apart[1] = out.stride[1];
    sink.ndim = x.ndim;
    sink.most = out.size[0];
    for (int d = 0; d < x.ndim; d++) sink.size[d] = x.size[d];
    tnc_chosen_count(tnc_stream(f), c);
    tnc_chosen_run(tnc_stream(f), c, sink);
}

static bool nonzero_static_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) || tn_device_scratch(f, tnc_chosen_bytes(nonzero_walk(f))) != NULL;
}
static void nonzero_static_run(tn_frame *f) {
    TN_ARGS(nonzero_static, a, f);
    if (!tn_numel(f->out[0])) return;
    tnc_fill(tn_frame_device(f), f->out[0], &a->fill_value);
    nonzero_run(f);
}

static const tn_device_row index_table[] = {
    {"gather", false, NULL, NULL, gather_run},
    {"index_select", false, NULL, NULL, index_select_run},
    {"embedding", false, NULL, NULL, embedding_run},
    {"index", false, index_look, index_prepare, index_run},
    {"one_hot", false, one_hot_look, NULL, one_hot_run},
    {"masked_fill", false, NULL, masked_fill_prepare, masked_fill_run},
    {"masked_select", false, masked_select_look, masked_select_prepare, masked_select_run},
    {"nonzero", false, nonzero_look, nonzero_prepare, nonzero_run},
    {"nonzero_static", false, NULL, nonzero_static_prepare, nonzero_static_run}};
TNC_FAMILY(index, index_table)
