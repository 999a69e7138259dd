/* reductions.cu - sums, products, means, extrema and their places, truth over any dimensions.
 *
 * Launch shapes are reduce.cuh's: a team of 16 threads a block of 4096 elements, 16 bytes a load;
 * a thread a column of 64 rows where results lie side by side; a block a subtree of 256 parts. */
#include "families.cuh"
#include "reduce.cuh"

/* --- plans ------------------------------------------------------------------------------------ */

TNC_PRIV void tnc_lanes_layout(tnc_lanes *l) {
    const int64_t each = l->p.columns ? TNC_BLOCK_ROWS : TNC_BLOCK;
    l->bytes = (uint8_t)tnc_dtype_bytes((int)l->p.dtype);
    l->results = l->p.outer * l->p.width;
    l->blocks = (l->p.n + each - 1) / each;
    if (l->blocks < 1) l->blocks = 1; /* even no element is a block */
    l->divide = 1;
    l->straight = !l->nonzero && l->p.dtype == l->p.compute && !l->p.columns &&
                  (l->p.nred == 0 || (l->p.nred == 1 && l->p.red_step[0] == l->bytes)) &&
                  (uintptr_t)l->p.x % 16 == 0;
    for (int d = 0; d < l->p.nkeep; d++) l->straight = l->straight && l->p.keep_step[d] % 16 == 0;
}

TNC_PRIV void tnc_lanes_of(tnc_lanes *l, const tn_frame *f, tn_tensor *x, const bool *gone,
                           tn_dtype compute, int how) {
    const int dtype = (int)tn_dtype_of(x);
    memset(l, 0, sizeof *l);
    tn_reduce_plan_of(&l->p, x, gone, compute, how);
    l->nonzero = how & TN_REDUCE_NONZERO;
    l->magnitude = how & TN_REDUCE_MAGNITUDE && (dtype == TN_C64 || dtype == TN_C128);
    tnc_lanes_layout(l);
    for (int k = 0; k < f->nout && k < 2; k++) {
        const tn_operand out = tn_operand_of(f->out[k]);
        l->out[k] = out.at;
        l->out_dtype[k] = out.dtype == TN_C64    ? (uint8_t)TN_F32
                          : out.dtype == TN_C128 ? (uint8_t)TN_F64
                                                 : out.dtype;
    }
}

TNC_PRIV bool tnc_lanes_bytes(const tnc_lanes *l, int64_t part, int64_t *bytes) {
    int64_t all = 0;
    for (int64_t n = l->blocks; n > 1; n = (n + TNC_TREE - 1) / TNC_TREE) all += n;
    /* Fewer blocks than elements, of which there are less than 2^58. */
    return !__builtin_mul_overflow(all, l->results, bytes) &&
           !__builtin_mul_overflow(*bytes, part, bytes);
}

TNC_PRIV bool tnc_lanes_scratch(tn_frame *f, const tnc_lanes *l, int64_t part) {
    int64_t bytes;
    if (!tnc_lanes_bytes(l, part, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}

/* --- reducers --------------------------------------------------------------------------------- */

template <class A>
struct tnc_mean : tnc_sum<A> {
    TNC_FN A end(A a, const tnc_lanes &l) { return (A)(a / (A)l.divide); }
};
template <class A>
struct tnc_prod : tnc_plain<A> {
    TNC_FN A first() { return 1; }
    TNC_FN A step(A a, A v, int64_t) { return tnc_times(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_times(a, b); }
};
/* The largest and smallest of 0 and 1; those of no elements are beyond. */
template <class A>
struct tnc_any : tnc_max<A> {
    TNC_FN A end(A a, const tnc_lanes &) { return a > 0; }
};
template <class A>
struct tnc_all : tnc_min<A> {
    TNC_FN A end(A a, const tnc_lanes &) { return a > 0; }
};

template <class A>
struct tnc_ends {
    A low, high;
};
template <class A>
struct tnc_aminmax : tnc_joined<tnc_ends<A>> {
    typedef A element;
    typedef tnc_ends<A> part;
    TNC_FN part first() { return {tnc_bounds<A>::high(), tnc_bounds<A>::low()}; }
    TNC_FN part step(part a, A v, int64_t) {
        return {tnc_smaller(a.low, v), tnc_larger(a.high, v)};
    }
    TNC_FN part meet(part a, part b) {
        return {tnc_smaller(a.low, b.low), tnc_larger(a.high, b.high)};
    }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.low, lanes),
                __shfl_down_sync(0xffffffffu, a.high, lanes)};
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, part a) {
        tnc_give_number(l, 0, at, a.low);
        tnc_give_number(l, 1, at, a.high);
    }
};

/* An extremum and its number: of equals the first, of NaN the first as well, so any order gives the
 * same. No value is worse than first()'s. */
template <class A>
struct tnc_place {
    A value;
    int64_t index;
};
template <class A, bool least>
struct tnc_arg : tnc_joined<tnc_place<A>> {
    typedef A element;
    typedef tnc_place<A> part;
    TNC_FN bool better(A v, A a) { return (least ? v < a : v > a) || (v != v && a == a); }
    TNC_FN part first() { return {least ? tnc_bounds<A>::high() : tnc_bounds<A>::low(), 0}; }
    TNC_FN part step(part a, A v, int64_t i) {
        if (better(v, a.value)) return {v, i};
        return a;
    }
    TNC_FN part meet(part a, part b) {
        const bool after = better(a.value, b.value), before = better(b.value, a.value);
        return before || (!after && b.index < a.index) ? b : a;
    }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.value, lanes),
                __shfl_down_sync(0xffffffffu, a.index, lanes)};
    }
};
/* The place alone, or the value before it. */
template <class A, bool least>
struct tnc_arg_index : tnc_arg<A, least> {
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_place<A> a) {
        ((int64_t *)l.out[0])[at] = a.index;
    }
};
template <class A, bool least>
struct tnc_arg_both : tnc_arg<A, least> {
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_place<A> a) {
        tnc_give_number(l, 0, at, a.value);
        ((int64_t *)l.out[1])[at] = a.index;
    }
};
template <class A>
struct tnc_argmax : tnc_arg_index<A, false> {};
template <class A>
struct tnc_argmin : tnc_arg_index<A, true> {};
template <class A>
struct tnc_max_dim : tnc_arg_both<A, false> {};
template <class A>
struct tnc_min_dim : tnc_arg_both<A, true> {};

/* --- products of complex numbers -------------------------------------------------------------- */

/* A chain a result, in f64, in the order of the dimensions: a thread each. */
__global__ void __launch_bounds__(128) tnc_prod_complex(tnc_lanes l) {
    for (int64_t o = TNC_FIRST(); o < l.results; o += TNC_STEP()) {
        const int64_t outer = o / l.p.width, c = o % l.p.width,
                      at = tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_out, outer) + c * l.p.width_out;
        const char *x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, outer) + c * l.bytes;
        tnc_c128 a = {1, 0};
        for (int64_t i = 0; i < l.p.n; i++) {
            const char *from = x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, i);
            const tnc_c128 v = tnc_move<TNC_C128>::load(from, (int)l.p.dtype, TN_C128);
            const double re = fma(a.re, v.re, -(a.im * v.im)), im = fma(a.re, v.im, a.im * v.re);
            a.re = re;
            a.im = im;
        }
        if (l.out_dtype[0] == TN_F32)
            tnc_move<TNC_C128>::store(l.out[0] + at * 8, TN_C64, TN_C128, a);
        else
            tnc_move<TNC_C128>::store(l.out[0] + at * 16, TN_C128, TN_C128, a);
    }
}
static bool reduction_is_complex(const tn_tensor *t) {
    const int dtype = (int)tn_dtype_of(t);
    return dtype == TN_C64 || dtype == TN_C128;
}
/* Elements are whole where they would be read as != 0. */
static void reduction_prod_complex(tn_frame *f, const bool *gone) {
    tnc_lanes l;
    tnc_lanes_of(&l, f, f->in[0], gone, TN_I64, TN_REDUCE_ORDERED | TN_REDUCE_NONZERO);
    if (l.results)
        TNC_LAUNCH_PLAIN((tnc_prod_complex), tnc_blocks(l.results, 128), 128, tnc_stream(f), l);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* How a row reads its elements, and in which type. */
enum { REDUCTION_OF_RESULT, REDUCTION_OF_SELF, REDUCTION_PLACES, REDUCTION_TRUTH };
static void reduction_plan(tnc_lanes *l, const tn_frame *f, const bool *gone, int kind) {
    const int out = (int)tn_dtype_of(f->out[0]), self = (int)tn_dtype_of(f->in[0]);
    const tn_dtype compute = kind == REDUCTION_TRUTH
                                 ? TN_I64
                                 : tnc_reduce_compute(kind == REDUCTION_OF_RESULT ? out : self);
    int how = kind == REDUCTION_PLACES  ? TN_REDUCE_ORDERED
              : kind == REDUCTION_TRUTH ? TN_REDUCE_NONZERO
                                        : TN_REDUCE_PLAIN;
    if (kind == REDUCTION_OF_RESULT && out == TN_BOOL) how = TN_REDUCE_NONZERO;
    tnc_lanes_of(l, f, f->in[0], gone, compute, how);
    l->divide = (double)l->p.n;
}
/* 16 bytes: the largest part. */
static bool reduction_prepare(tn_frame *f, const bool *gone, int kind) {
    tnc_lanes l;
    reduction_plan(&l, f, gone, kind);
    return tnc_lanes_scratch(f, &l,
                             kind == REDUCTION_OF_RESULT || kind == REDUCTION_TRUTH ? 8 : 16);
}
template <template <class> class R>
static void reduction_run(tn_frame *f, const bool *gone, int kind) {
    tnc_lanes l;
    cudaStream_t s = tnc_stream(f);
    reduction_plan(&l, f, gone, kind);
    l.parts = (char *)f->scratch;
    switch (l.p.compute) {
    case TN_F32: tnc_reduce(s, l, R<float>()); break;
    case TN_F64: tnc_reduce(s, l, R<double>()); break;
    default: tnc_reduce(s, l, R<int64_t>());
    }
}
template <template <class> class R>
static void reduction_truth(tn_frame *f, const bool *gone) {
    tnc_lanes l;
    reduction_plan(&l, f, gone, REDUCTION_TRUTH);
    l.parts = (char *)f->scratch;
    tnc_reduce(tnc_stream(f), l, R<int64_t>());
}
/* An empty list of any and all is one of no dimensions: each element by itself. */
static void gone_truth(const tn_frame *f, tn_ints dim, bool *gone) {
    tnc_gone_list(f, dim, gone);
    if (dim.at && dim.n == 0) memset(gone, 0, TN_MAX_DIMS * sizeof *gone);
}

/* A row: what its arguments say is reduced, how it is read, and the run. */
#define REDUCTION_AS(row, kind, args, gone_of, run) \
    static bool row##_prepare(tn_frame *f) {        \
        bool gone[TN_MAX_DIMS];                     \
        args;                                       \
        gone_of;                                    \
        return reduction_prepare(f, gone, kind);    \
    }                                               \
    static void row##_run(tn_frame *f) {            \
        bool gone[TN_MAX_DIMS];                     \
        args;                                       \
        gone_of;                                    \
        run;                                        \
    }
#define REDUCTION(row, reducer, kind, gone_of) \
    REDUCTION_AS(row, kind, TN_ARGS(row, a, f), gone_of, reduction_run<reducer>(f, gone, kind))
#define REDUCTION_LOGIC(row, reducer, gone_of)                      \
    REDUCTION_AS(row, REDUCTION_TRUTH, TN_ARGS(row, a, f), gone_of, \
                 reduction_truth<reducer>(f, gone))
/* Over all elements, without arguments. */
#define REDUCTION_WHOLE(row, kind, run) \
    REDUCTION_AS(row, kind, , tnc_gone_one(f, TN_NONE, gone), run)
REDUCTION(sum, tnc_sum, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION(mean, tnc_mean, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION_AS(prod, REDUCTION_OF_RESULT, TN_ARGS(prod, a, f), tnc_gone_one(f, a->dim, gone),
             if (reduction_is_complex(f->in[0])) reduction_prod_complex(f, gone);
             else reduction_run<tnc_prod>(f, gone, REDUCTION_OF_RESULT))
REDUCTION(amax, tnc_max, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION(amin, tnc_min, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION_WHOLE(max, REDUCTION_OF_RESULT, reduction_run<tnc_max>(f, gone, REDUCTION_OF_RESULT))
REDUCTION_WHOLE(min, REDUCTION_OF_RESULT, reduction_run<tnc_min>(f, gone, REDUCTION_OF_RESULT))
REDUCTION(aminmax, tnc_aminmax, REDUCTION_OF_SELF, tnc_gone_one(f, a->dim, gone))
REDUCTION(argmax, tnc_argmax, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(argmin, tnc_argmin, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(max_dim, tnc_max_dim, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(min_dim, tnc_min_dim, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION_WHOLE(any, REDUCTION_TRUTH, reduction_truth<tnc_any>(f, gone))
REDUCTION_WHOLE(all, REDUCTION_TRUTH, reduction_truth<tnc_all>(f, gone))
REDUCTION_LOGIC(any_dims, tnc_any, gone_truth(f, a->dim, gone))
REDUCTION_LOGIC(all_dims, tnc_all, gone_truth(f, a->dim, gone))
REDUCTION_LOGIC(count_nonzero, tnc_sum, tnc_gone_list(f, a->dim, gone))
#undef REDUCTION
#undef REDUCTION_LOGIC
#undef REDUCTION_WHOLE
#undef REDUCTION_AS

#define REDUCTION_ROW(row) \
    { #row, false, NULL, row##_prepare, row##_run }
static const tn_device_row reduction_table[] = {
    REDUCTION_ROW(sum),      REDUCTION_ROW(mean),          REDUCTION_ROW(prod),
    REDUCTION_ROW(amax),     REDUCTION_ROW(amin),          REDUCTION_ROW(max),
    REDUCTION_ROW(min),      REDUCTION_ROW(aminmax),       REDUCTION_ROW(argmax),
    REDUCTION_ROW(argmin),   REDUCTION_ROW(max_dim),       REDUCTION_ROW(min_dim),
    REDUCTION_ROW(any),      REDUCTION_ROW(all),           REDUCTION_ROW(any_dims),
    REDUCTION_ROW(all_dims), REDUCTION_ROW(count_nonzero),
};
#undef REDUCTION_ROW
TNC_FAMILY(reductions, reduction_table)
