/* scatter.cu - elements written, added or otherwise combined at indices: scatter, scatter_value,
 * scatter_add, scatter_reduce, index_add, index_put, embedding_dense_backward, masked_scatter.
 *
 * Places are tabled (places.cuh), sorted stably where two may be one (order.cuh), and a thread has
 * an element of a destination: it adds what goes there in the order of the places, as the CPU does,
 * or writes the last of it. So no result depends on which thread comes first. Elements of a slice
 * lie side by side in threads. */
#include "chosen.cuh"
#include "copy.cuh"
#include "families.cuh"
#include "order.cuh"

/* --- additions -------------------------------------------------------------------------------- */

/* How elements of a dtype are added: value, load, plus, and store. The sum is rounded to the dtype
 * at each step. */
template <class T, class Sum>
struct tnc_scatter_plain {
    typedef T value;
    TNC_FN T load(const char *at) { return tnc_get<T>(at); }
    TNC_FN void store(char *at, T v) { tnc_put<T>(at, v); }
    TNC_FN T plus(T a, T b) { return (T)((Sum)a + (Sum)b); }
};
template <int dtype>
struct tnc_scatter_half {
    typedef float value;
    typedef tnc_half<dtype> half;
    TNC_FN float load(const char *at) { return half::get(tnc_get<uint16_t>(at)); }
    TNC_FN void store(char *at, float v) { tnc_put<uint16_t>(at, half::put(v)); }
    TNC_FN float plus(float a, float b) { return half::get(half::put(a + b)); }
};
template <class C, class R>
struct tnc_scatter_complex {
    typedef C value;
    TNC_FN C load(const char *at) {
        C z;
        z.re = tnc_get<R>(at);
        z.im = tnc_get<R>(at + sizeof(R));
        return z;
    }
    TNC_FN void store(char *at, C z) {
        tnc_put<R>(at, z.re);
        tnc_put<R>(at + sizeof(R), z.im);
    }
    TNC_FN C plus(C a, C b) {
        a.re += b.re;
        a.im += b.im;
        return a;
    }
};
struct tnc_scatter_bool {
    typedef uint8_t value;
    TNC_FN uint8_t load(const char *at) { return tnc_get<uint8_t>(at); }
    TNC_FN void store(char *at, uint8_t v) { tnc_put<uint8_t>(at, v); }
    TNC_FN uint8_t plus(uint8_t a, uint8_t b) { return a || b; }
};

/* An element times alpha, or divided by it, in double and rounded to its dtype. Integers wrap, and
 * are not divided; bools stay. */
TNC_FN double tnc_scatter_by(double v, double alpha, bool divides) {
    return divides ? v / alpha : v * alpha;
}
template <int dtype, class V>
TNC_FN V tnc_scatter_scaled(V v, double alpha, bool divides) {
    switch (dtype) {
    case TN_F16:
        return (V)tnc_from_f16(tnc_to_f16((float)tnc_scatter_by((double)v, alpha, divides)));
    case TN_BF16:
        return (V)tnc_from_bf16(tnc_to_bf16((float)tnc_scatter_by((double)v, alpha, divides)));
    case TN_F32:
    case TN_F64: return (V)tnc_scatter_by((double)v, alpha, divides);
    case TN_BOOL: return v;
    default: return divides ? v : (V)((uint64_t)v * (uint64_t)(int64_t)alpha);
    }
}
template <int dtype>
TNC_FN tnc_c64 tnc_scatter_scaled(tnc_c64 v, double alpha, bool divides) {
    v.re = (float)tnc_scatter_by((double)v.re, alpha, divides);
    v.im = (float)tnc_scatter_by((double)v.im, alpha, divides);
    return v;
}
template <int dtype>
TNC_FN tnc_c128 tnc_scatter_scaled(tnc_c128 v, double alpha, bool divides) {
    v.re = tnc_scatter_by(v.re, alpha, divides);
    v.im = tnc_scatter_by(v.im, alpha, divides);
    return v;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* What goes where: `each` elements a place, from `from` to `to`. */
struct tnc_scatter {
    char *to;
    const char *from;
    int64_t n, each;        /* places; elements of one */
    const int64_t *table;   /* a place's bytes from `to`; negative: it is left out */
    const tnc_item *sorted; /* the same, sorted; NULL: no two are equal */
    tnc_far<1> place;       /* of from, by places */
    tnc_far<2> rest;        /* of to and from, by elements of a place */
    double alpha;           /* what is added is multiplied by it */
    bool scales, mean;      /* mean: the sum is divided by its number, if that is at least 2 */
};

/* Job i as an element of a place. False: the place has no part here. Else `p` is the first of those
 * with that destination, or with `last` the last; to, from: where its elements lie. */
TNC_FN bool tnc_scatter_job(const tnc_scatter &a, int64_t i, bool last, int64_t *p, char **to,
                            const char **from, int64_t *key) {
    int64_t at[2] = {0, 0};
    *p = a.each == 1 ? i : i / a.each;
    *key = a.sorted ? (int64_t)a.sorted[*p].key : a.table[*p];
    if (*key < 0) return false;
    if (a.sorted) {
        const int64_t beside = last ? *p + 1 : *p - 1;
        if (beside >= 0 && beside < a.n && (int64_t)a.sorted[beside].key == *key) return false;
    }
    if (a.each > 1) tnc_far_to(a.rest, i - *p * a.each, at);
    *to = a.to + *key + at[0];
    *from = a.from + at[1];
    return true;
}
/* Where place p's elements begin in `from`, in bytes. */
TNC_FN int64_t tnc_scatter_place(const tnc_scatter &a, int64_t p) {
    int64_t at[1];
    tnc_far_to(a.place, a.sorted ? a.sorted[p].place : p, at);
    return at[0];
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_scatter_set(tnc_scatter a) {
    for (int64_t i = TNC_FIRST(); i < a.n * a.each; i += TNC_STEP()) {
        const char *from;
        char *to;
        int64_t p, key;
        if (tnc_scatter_job(a, i, true, &p, &to, &from, &key))
            *(E *)to = *(const E *)(from + tnc_scatter_place(a, p));
    }
}

template <int dtype, class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_scatter_sum(tnc_scatter a) {
    typedef typename A::value V;
    for (int64_t i = TNC_FIRST(); i < a.n * a.each; i += TNC_STEP()) {
        const char *from;
        char *to;
        int64_t p, key, count = 0;
        if (!tnc_scatter_job(a, i, false, &p, &to, &from, &key)) continue;
        V sum = A::load(to);
        do {
            V v = A::load(from + tnc_scatter_place(a, p));
            if (a.scales) v = tnc_scatter_scaled<dtype>(v, a.alpha, false);
            sum = A::plus(sum, v);
            count++;
            p++;
        } while (a.sorted && p < a.n && (int64_t)a.sorted[p].key == key);
        if (a.mean && count > 1) sum = tnc_scatter_scaled<dtype>(sum, (double)count, true);
        A::store(to, sum);
    }
}

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_scatter_items(tnc_item *to, const int64_t *table, int64_t n) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP()) {
        tnc_item item;
        item.key = (uint64_t)table[i]; /* those that are left out come last */
        item.place = i;
        to[i] = item;
    }
}

/* Operand 0: addresses that places begin with; 1: the index. */
template <class E, class I>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_scatter_one(tnc_walk<2> w, int64_t step, int64_t bound, tnc_watch watch, tnc_pair unit) {
    E e;
    memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2], k;
        tnc_walk_to(w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(w.at[1] + at[1]);
        if (k < 0 || k >= bound)
            tnc_tell(watch, k, bound);
        else
            *(E *)(w.at[0] + at[0] + k * step) = e;
    }
}

/* --- reductions ------------------------------------------------------------------------------- */

enum tnc_way { TNC_WAY_SUM, TNC_WAY_PROD, TNC_WAY_MEAN, TNC_WAY_AMAX, TNC_WAY_AMIN };

/* Two elements as one, before it is rounded to its dtype. */
TNC_FN double tnc_reduced(double a, double b, int way, bool) {
    switch (way) {
    case TNC_WAY_PROD: return a * b;
    case TNC_WAY_AMAX: return b != b || b > a ? b : a; /* a NaN stays: nothing is above it */
    case TNC_WAY_AMIN: return b != b || b < a ? b : a;
    default: return a + b;
    }
}
TNC_FN int64_t tnc_reduced(int64_t a, int64_t b, int way, bool truth) {
    switch (way) {
    case TNC_WAY_AMAX: return b > a ? b : a;
    case TNC_WAY_AMIN: return b < a ? b : a;
    case TNC_WAY_PROD: return truth ? a && b : (int64_t)((uint64_t)a * (uint64_t)b);
    default: return truth ? a || b : (int64_t)((uint64_t)a + (uint64_t)b);
    }
}
TNC_FN tnc_c128 tnc_reduced(tnc_c128 a, tnc_c128 b, int way, bool) {
    tnc_c128 v;
    if (way == TNC_WAY_PROD) {
        v.re = a.re * b.re - a.im * b.im;
        v.im = a.re * b.im + a.im * b.re;
    } else {
        v.re = a.re + b.re;
        v.im = a.im + b.im;
    }
    return v;
}
/* Divided by a count: integers are rounded down. */
TNC_FN double tnc_reduced_mean(double v, int64_t n) { return v / (double)n; }
TNC_FN int64_t tnc_reduced_mean(int64_t v, int64_t n) {
    const int64_t q = v / n;
    return v % n < 0 ? q - 1 : q;
}
TNC_FN tnc_c128 tnc_reduced_mean(tnc_c128 v, int64_t n) {
    v.re /= (double)n;
    v.im /= (double)n;
    return v;
}
TNC_FN double tnc_reduced_zero(double) { return 0; }
TNC_FN int64_t tnc_reduced_zero(int64_t) { return 0; }
TNC_FN tnc_c128 tnc_reduced_zero(tnc_c128) {
    const tnc_c128 v = {0, 0};
    return v;
}

/* All that goes to a place, in the order of the index; rounded to the dtype at each step. */
template <int type>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_scatter_reduce(tnc_scatter a, int dtype, int way, bool include_self) {
    typedef tnc_move<type> move;
    typedef typename tnc_of<type>::value V;
    const bool sums = way == TNC_WAY_SUM || way == TNC_WAY_MEAN, truth = dtype == TN_BOOL;
    for (int64_t i = TNC_FIRST(); i < a.n * a.each; i += TNC_STEP()) {
        const char *from;
        char *to;
        int64_t p, key, count = include_self;
        if (!tnc_scatter_job(a, i, false, &p, &to, &from, &key)) continue;
        do {
            const V v = move::load(from + tnc_scatter_place(a, p), dtype, dtype);
            V now = v;
            if (count++)
                now = tnc_reduced(move::load(to, dtype, dtype), v, way, truth);
            else if (sums)
                now = tnc_reduced(tnc_reduced_zero(v), v, way, truth);
            move::store(to, dtype, dtype, now);
            p++;
        } while (a.sorted && p < a.n && (int64_t)a.sorted[p].key == key);
        if (way == TNC_WAY_MEAN && count > 1)
            move::store(to, dtype, dtype, tnc_reduced_mean(move::load(to, dtype, dtype), count));
    }
}

/* --- host ------------------------------------------------------------------------------------- */

/* Bits of keys that decide: those of the result's bytes, which are all set in places that are left
 * out. */
static int scatter_bits(const tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    int64_t span = out.bytes;
    int bits = 0;
    for (int d = 0; d < out.ndim; d++) span += (out.size[d] - 1) * out.stride[d] * out.bytes;
    while (bits < 64 && span >> bits) bits++;
    return bits;
}
/* The table of n places, `more` bytes, then items twice. */
static bool scatter_scratch(tn_frame *f, int64_t n, int64_t more) {
    int64_t bytes, table;
    if (!n) return true;
    if (!tnc_order_bytes(1, n, scatter_bits(f), &bytes) || __builtin_mul_overflow(n, 8, &table) ||
        __builtin_add_overflow(bytes, table + more + 16, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
/* Sorts the places; `more` as asked for. */
static void scatter_sort(const tn_frame *f, cudaStream_t s, tnc_scatter *a, int64_t more) {
    tnc_item *items = (tnc_item *)(((uintptr_t)(a->table + a->n) + (uintptr_t)more + 15) / 16 * 16);
    if (a->n < 2) return;
    TNC_LAUNCH_PLAIN(tnc_scatter_items, tnc_blocks(a->n, TNC_THREADS), TNC_THREADS, s, items,
                     a->table, a->n);
    a->sorted = tnc_order(s, items, 1, a->n, scatter_bits(f));
}

static void scatter_set(cudaStream_t s, const tnc_scatter &a, int bytes) {
    const unsigned blocks = tnc_blocks(a.n * a.each, TNC_THREADS);
#define SCATTER_SET(E) TNC_LAUNCH_PLAIN((tnc_scatter_set<E>), blocks, TNC_THREADS, s, a)
    TNC_MOVED(bytes, SCATTER_SET)
#undef SCATTER_SET
}
static void scatter_sum(cudaStream_t s, const tnc_scatter &a, int dtype) {
    const unsigned blocks = tnc_blocks(a.n * a.each, TNC_THREADS);
#define SCATTER_SUM(type, ...)                                                             \
    case type:                                                                             \
        TNC_LAUNCH_PLAIN((tnc_scatter_sum<type, __VA_ARGS__>), blocks, TNC_THREADS, s, a); \
        break
    switch (dtype) {
        SCATTER_SUM(TN_F32, tnc_scatter_plain<float, float>);
        SCATTER_SUM(TN_F64, tnc_scatter_plain<double, double>);
        SCATTER_SUM(TN_U8, tnc_scatter_plain<uint8_t, uint32_t>);
        SCATTER_SUM(TN_I8, tnc_scatter_plain<int8_t, uint32_t>);
        SCATTER_SUM(TN_I16, tnc_scatter_plain<int16_t, uint32_t>);
        SCATTER_SUM(TN_I32, tnc_scatter_plain<int32_t, uint32_t>);
        SCATTER_SUM(TN_I64, tnc_scatter_plain<int64_t, uint64_t>);
        SCATTER_SUM(TN_F16, tnc_scatter_half<TN_F16>);
        SCATTER_SUM(TN_BF16, tnc_scatter_half<TN_BF16>);
        SCATTER_SUM(TN_C64, tnc_scatter_complex<tnc_c64, float>);
        SCATTER_SUM(TN_C128, tnc_scatter_complex<tnc_c128, double>);
        SCATTER_SUM(TN_BOOL, tnc_scatter_bool);
    default: break;
    }
#undef SCATTER_SUM
}

/* The result begins as self; in place it is self. */
static void scatter_begin(tn_frame *f) {
    if (f->out[0] != f->in[0] && tn_numel(f->in[0]))
        tnc_elements(tn_frame_device(f), f->out[0], f->in[0]);
}
/* The table of places in the result, of each index along dimension d of it. The others of its
 * dimensions are the index's, unless an index stands for a slice; `skip`: as in tnc_indices. */
static void scatter_table(const tn_frame *f, const tn_operand &index, const tn_operand &out, int d,
                          bool slices, int64_t skip) {
    int64_t each = index.numel * 8;
    tnc_indices x;
    tn_walk_plan p;
    memset(&x, 0, sizeof x);
    x.dtype = index.dtype;
    x.step = out.ndim ? out.stride[d] * out.bytes : 0;
    x.bound = out.ndim ? out.size[d] : 1;
    x.skip = skip;
    x.base = out.at;
    x.marks = true;
    x.watch = tnc_watch_of(f);
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < index.ndim; i++) {
        each /= index.size[i];
        tnc_plan_within(&p, index.size[i], each, index.stride[i] * index.bytes,
                        slices || i == d || i >= out.ndim ? 0 : out.stride[i] * out.bytes);
    }
    p.at[0] = (char *)f->scratch;
    p.at[1] = index.at;
    p.at[2] = out.at;
    tnc_place_indices(tnc_stream(f), p, x);
}
/* From `from` to the result at the places in the table, which has been made. */
static tnc_scatter scatter_of(const tn_frame *f, const tn_operand &out, const tn_operand &from,
                              int64_t n) {
    tnc_scatter a;
    memset(&a, 0, sizeof a);
    a.to = out.at;
    a.from = from.at;
    a.n = n;
    a.each = 1;
    a.table = (const int64_t *)f->scratch;
    return a;
}

/* --- one index an element --------------------------------------------------------------------- */

static bool scatter_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) || scatter_scratch(f, tn_numel(f->in[1]), 0);
}
/* Begins the result, and what goes where, in order. False: nothing does. */
static bool scatter_plan(tn_frame *f, int64_t dim, tnc_scatter *to) {
    const tn_operand index = tn_operand_of(f->in[1]), src = tn_operand_of(f->in[2]),
                     out = tn_operand_of(f->out[0]);
    tn_walk_plan p;
    tnc_scatter a;
    scatter_begin(f);
    if (!index.numel || !out.numel) return false;
    scatter_table(f, index, out, tnc_dim(dim, out.ndim), false, INT64_MIN);
    a = scatter_of(f, out, src, index.numel);
    /* src may be larger than the index: its first elements count. */
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], i < src.ndim ? src.stride[i] * src.bytes : 0, 0, 0);
    a.place = tnc_far_of<1>(p);
    scatter_sort(f, tnc_stream(f), &a, 0);
    *to = a;
    return true;
}
static void scatter_run(tn_frame *f) {
    TN_ARGS(scatter, args, f);
    tnc_scatter a;
    if (scatter_plan(f, args->dim, &a))
        scatter_set(tnc_stream(f), a, tnc_dtype_bytes(tn_dtype_of(f->out[0])));
}
static void scatter_add_run(tn_frame *f) {
    TN_ARGS(scatter_add, args, f);
    tnc_scatter a;
    if (scatter_plan(f, args->dim, &a)) scatter_sum(tnc_stream(f), a, tn_dtype_of(f->out[0]));
}
static void scatter_reduce_run(tn_frame *f) {
    TN_ARGS(scatter_reduce, args, f);
    static const char *const words[] = {"sum", "prod", "mean", "amax", "amin"};
    const tn_dtype dtype = tn_dtype_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tnc_scatter a;
    int way = 0;
    if (!scatter_plan(f, args->dim, &a)) return;
    while (way < TNC_WAY_AMIN && strcmp(args->reduce, words[way]) != 0) way++;
#define SCATTER_REDUCE(type)                                                                      \
    TNC_LAUNCH_PLAIN((tnc_scatter_reduce<type>), tnc_blocks(a.n, TNC_THREADS), TNC_THREADS, s, a, \
                     (int)dtype, way, args->include_self)
    if (dtype == TN_C64 || dtype == TN_C128)
        SCATTER_REDUCE(TNC_C128);
    else if (tnc_is_float(dtype))
        SCATTER_REDUCE(TNC_F64);
    else
        SCATTER_REDUCE(TNC_I64);
#undef SCATTER_REDUCE
}

static void scatter_value_run(tn_frame *f) {
    TN_ARGS(scatter_value, args, f);
    const tn_operand index = tn_operand_of(f->in[1]), out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, out.ndim);
    const int64_t step = out.ndim ? out.stride[d] * out.bytes : 0,
                  bound = out.ndim ? out.size[d] : 1;
    const tnc_watch watch = tnc_watch_of(f);
    const cudaStream_t s = tnc_stream(f);
    tnc_pair unit = {{0, 0}};
    tn_walk_plan p;
    scatter_begin(f);
    if (!index.numel || !out.numel) return;
    tn_scalar_element(args->value, (tn_dtype)out.dtype, &unit);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], i == d || i >= out.ndim ? 0 : out.stride[i] * out.bytes,
                        index.stride[i] * index.bytes, 0);
    p.at[0] = out.at;
    p.at[1] = index.at;
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define SCATTER_ONE(E)                                                                          \
    if (index.dtype == TN_I64)                                                                  \
        TNC_LAUNCH_PLAIN((tnc_scatter_one<E, int64_t>), blocks, TNC_THREADS, s, w, step, bound, \
                         watch, unit);                                                          \
    else                                                                                        \
        TNC_LAUNCH_PLAIN((tnc_scatter_one<E, int32_t>), blocks, TNC_THREADS, s, w, step, bound, \
                         watch, unit)
        TNC_MOVED(out.bytes, SCATTER_ONE)
#undef SCATTER_ONE
    });
}

/* --- one index a slice ------------------------------------------------------------------------ */

static bool index_add_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) || !tn_numel(f->in[2]) || scatter_scratch(f, tn_numel(f->in[1]), 0);
}
static void index_add_run(tn_frame *f) {
    TN_ARGS(index_add, args, f);
    const tn_operand index = tn_operand_of(f->in[1]), src = tn_operand_of(f->in[2]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, out.ndim);
    tn_walk_plan p;
    tnc_scatter a;
    scatter_begin(f);
    if (!out.numel || !src.numel || (out.dtype == TN_BOOL && args->alpha == 0)) return;
    scatter_table(f, index, out, d, true, INT64_MIN);
    a = scatter_of(f, out, src, index.numel);
    /* Slices of source; a 0-dim one is a slice, and stands for a vector of one. */
    tnc_plan_begin(&p, 1);
    tnc_plan_within(&p, index.numel, src.ndim ? src.stride[d] * src.bytes : 0, 0, 0);
    a.place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < out.ndim; i++)
        if (i != d)
            tnc_plan_within(&p, out.size[i], out.stride[i] * out.bytes, src.stride[i] * src.bytes,
                            0);
    a.rest = tnc_far_of<2>(p);
    a.each = p.numel;
    a.alpha = args->alpha;
    a.scales = args->alpha != 1;
    scatter_sort(f, tnc_stream(f), &a, 0);
    scatter_sum(tnc_stream(f), a, out.dtype);
}

static void embedding_dense_backward_run(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, args, f);
    const tn_operand d = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const tnc_pair zero = {{0, 0}};
    tn_walk_plan p;
    tnc_scatter a;
    if (out.numel) tnc_fill(tn_frame_device(f), f->out[0], &zero);
    if (!index.numel || !out.numel) return;
    scatter_table(f, index, out, 0, true, args->padding_idx < 0 ? INT64_MIN : args->padding_idx);
    a = scatter_of(f, out, d, index.numel);
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], d.stride[i] * d.bytes, 0, 0);
    a.place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    tnc_plan_within(&p, out.size[1], out.stride[1] * out.bytes, d.stride[index.ndim] * d.bytes, 0);
    a.rest = tnc_far_of<2>(p);
    a.each = out.size[1];
    a.mean = args->scale_grad_by_freq;
    scatter_sort(f, tnc_stream(f), &a, 0);
    scatter_sum(tnc_stream(f), a, out.dtype);
}

/* --- index_put -------------------------------------------------------------------------------- */

static bool index_put_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 2, f->nin - 2, &p) &&
           tnc_table_look(f, f->in + 2, f->nin - 2, &p, &f->count) &&
           tn_index_values_fit(f, &p, f->in[1], f->count);
}
/* Bytes of what masks need behind the table. */
static bool index_put_plan(tn_frame *f, tn_index_plan *p, int64_t *n, int64_t *more) {
    if (!tn_index_plan_of(f, f->in[0], f->in + 2, f->nin - 2, p)) return false;
    *n = tnc_table_size(p, f->count);
    if (!tnc_table_bytes(p, *n, more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    *more -= *n * 8;
    return true;
}
static bool index_put_prepare(tn_frame *f) {
    tn_index_plan p;
    int64_t n, more;
    if (!tn_numel(f->out[0]) || !tn_numel(f->in[1])) return true;
    return index_put_plan(f, &p, &n, &more) && scatter_scratch(f, n, more);
}
/* A mask alone names no place twice. */
static bool index_put_once(tn_tensor *const *index, int n) {
    int tensors = 0;
    for (int i = 0; i < n; i++) {
        if (!index[i]) continue;
        if (!tnc_is_mask(index[i])) return false;
        tensors++;
    }
    return tensors == 1;
}
/* Places and elements of them, in values, which are broadcast to the plan's shape, and in out. */
static void index_put_walks(tnc_scatter *a, const tn_index_plan *plan, const tn_operand &values,
                            const tn_operand &out) {
    const int more = plan->ndim - values.ndim;
    tn_walk_plan p;
    int64_t step[TN_MAX_DIMS];
    for (int d = 0; d < plan->ndim; d++)
        step[d] = d < more || (values.size[d - more] == 1 && plan->size[d] != 1)
                      ? 0
                      : values.stride[d - more] * values.bytes;
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < plan->index_ndim; i++)
        tnc_plan_within(&p, plan->index_size[i], step[plan->place + i], 0, 0);
    a->place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < plan->kept; i++)
        tnc_plan_within(&p, out.size[plan->keep[i]], out.stride[plan->keep[i]] * out.bytes,
                        step[i < plan->place ? i : i + plan->index_ndim], 0);
    a->rest = tnc_far_of<2>(p);
    a->each = p.numel;
}
static void index_put_run(tn_frame *f) {
    TN_ARGS(index_put, args, f);
    const tn_operand values = tn_operand_of(f->in[1]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tn_index_plan plan;
    tnc_table table;
    tnc_scatter a;
    int64_t more;
    scatter_begin(f);
    if (!out.numel || !values.numel || !index_put_plan(f, &plan, &table.n, &more) || !table.n)
        return;
    table.at = (int64_t *)f->scratch;
    tnc_table_run(f, out, f->in + 2, f->nin - 2, &plan, table, true);
    a = scatter_of(f, out, values, table.n);
    index_put_walks(&a, &plan, values, out);
    if (!a.each) return;
    if (!index_put_once(f->in + 2, f->nin - 2)) scatter_sort(f, s, &a, more);
    if (args->accumulate)
        scatter_sum(s, a, out.dtype);
    else
        scatter_set(s, a, out.bytes);
}

/* --- masked_scatter --------------------------------------------------------------------------- */

/* The rank-th true place takes the rank-th element of source, others are self's. Operand 1 of the
 * walk is the result, 2 self. */
template <class E>
struct tnc_scatter_true {
    char *to;
    const char *self, *source;
    tnc_far<1> places;
    int64_t n; /* of source: a mask that changed since it was counted takes no more */
    TNC_FN void hit(const tnc_scatter_true &s, const int64_t *at, int64_t, int64_t rank) {
        int64_t from[1];
        if (rank >= s.n) return;
        tnc_far_to(s.places, rank, from);
        *(E *)(s.to + at[1]) = *(const E *)(s.source + from[0]);
    }
    TNC_FN void miss(const tnc_scatter_true &s, const int64_t *at, int64_t, int64_t) {
        char *to = s.to + at[1];
        const char *from = s.self + at[2];
        if (to != from) *(E *)to = *(const E *)from;
    }
};

/* The mask over the result's shape, beside result and self. */
static tnc_chosen masked_scatter_walk(const tn_operand &out, const tn_operand &mask,
                                      const tn_operand &self) {
    const int more[2] = {out.ndim - mask.ndim, out.ndim - self.ndim};
    tn_walk_plan p;
    tnc_plan_begin(&p, 3);
    for (int d = 0; d < out.ndim; d++) {
        const int m = d - more[0], x = d - more[1];
        tnc_plan_within(&p, out.size[d],
                        m < 0 || mask.size[m] == 1 ? 0 : mask.stride[m] * mask.bytes,
                        out.stride[d] * out.bytes,
                        x < 0 || self.size[x] == 1 ? 0 : self.stride[x] * self.bytes);
    }
    return tnc_chosen_of(p, mask);
}
static tnc_chosen masked_scatter_chosen(const tn_frame *f) {
    return masked_scatter_walk(tn_operand_of(f->out[0]), tn_operand_of(f->in[1]),
                               tn_operand_of(f->in[0]));
}
/* Waits: source must have as many elements as are true, before one is written. */
static bool masked_scatter_look(tn_frame *f) {
    const int64_t has = tn_numel(f->in[2]);
    int64_t count;
    if (!tnc_chosen_look(f, masked_scatter_chosen(f), &count)) return false;
    return count <= has ||
           tn_fail(f, TN_INVALID,
                   "masked_scatter: expected source of at least %lld elements, got %lld",
                   (long long)count, (long long)has);
}
static bool masked_scatter_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) ||
           tn_device_scratch(f, tnc_chosen_bytes(masked_scatter_chosen(f))) != NULL;
}
static void masked_scatter_run(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]), self = tn_operand_of(f->in[0]),
                     source = tn_operand_of(f->in[2]);
    const cudaStream_t s = tnc_stream(f);
    tnc_chosen c = masked_scatter_chosen(f);
    tn_walk_plan p;
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    tnc_plan_begin(&p, 1);
    for (int d = 0; d < source.ndim; d++)
        tnc_plan_within(&p, source.size[d], source.stride[d] * source.bytes, 0, 0);
    tnc_chosen_count(s, c);
#define SCATTER_TRUE(E)                                                                 \
    {                                                                                   \
        const tnc_scatter_true<E> sink = {out.at, self.at, source.at, tnc_far_of<1>(p), \
                                          source.numel};                                \
        tnc_chosen_run(s, c, sink);                                                     \
    }
    TNC_MOVED(out.bytes, SCATTER_TRUE)
#undef SCATTER_TRUE
}

static const tn_device_row scatter_rows[] = {
    {"scatter", false, NULL, scatter_prepare, scatter_run},
    {"scatter_add", false, NULL, scatter_prepare, scatter_add_run},
    {"scatter_reduce", false, NULL, scatter_prepare, scatter_reduce_run},
    {"scatter_value", false, NULL, NULL, scatter_value_run},
    {"index_add", false, NULL, index_add_prepare, index_add_run},
    {"index_put", false, index_put_look, index_put_prepare, index_put_run},
    {"embedding_dense_backward", false, NULL, scatter_prepare, embedding_dense_backward_run},
    {"masked_scatter", false, masked_scatter_look, masked_scatter_prepare, masked_scatter_run}};
TNC_FAMILY(scatter, scatter_rows)
