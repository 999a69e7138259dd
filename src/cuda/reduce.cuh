/* reduce.cuh - reductions in the order of the CPU's, so with its bits (cpu/lanes.h): blocks of 4096
 * elements in fixed lanes, lanes folded by halves, blocks met in a tree of neighbours; columns by
 * 64 rows.
 *
 * A reducer R is a struct, whose members are the same for all threads: what is known of some
 * elements is an R::part.
 *     first()               of none
 *     step(part, x, i)      one more element, of the type of the arithmetic, and its number
 *     meet(a, b)            a, then b: of two lanes
 *     from(part, lanes)     that of the thread so many lanes further on
 *     join(r, a, b, na, nb) a, then b: of two blocks of so many elements
 *     give(r, plan, at, a)  stores result number `at`
 * The last two may be tnc_plain's, which ask for meet and for end(part, plan), a number.
 * A team of 16 threads has the 256 bytes of lanes of a block, 16 bytes each. */
#ifndef TNC_CUDA_REDUCE_CUH
#define TNC_CUDA_REDUCE_CUH

#include "elements.cuh"

enum { TNC_BLOCK = 4096, TNC_BLOCK_ROWS = 64, TNC_TEAM = 16, TNC_TREE = 256 };

struct tnc_lanes {
    tn_reduce_plan p;
    int64_t blocks, results;     /* of a result; in all */
    char *parts, *out[2];        /* parts: of the reducer's, tnc_part_at says where */
    double divide;               /* end: by it */
    uint8_t out_dtype[2], bytes; /* bytes: of an element in memory */
    bool nonzero;                /* elements are read as != 0 */
    bool magnitude;              /* complex elements are read as |x| */
    bool straight; /* elements of the arithmetic's type, one after another, 16-byte aligned */
};

/* Where number i lies, counted row-major over n dimensions. */
TNC_FN int64_t tnc_offset(int n, const int64_t *size, const int64_t *step, int64_t i) {
    int64_t at = 0;
    for (int d = n - 1; d > 0; d--) {
        at += i % size[d] * step[d];
        i /= size[d];
    }
    return n ? at + i * step[0] : 0;
}

template <class A>
struct tnc_dtype_of;
template <>
struct tnc_dtype_of<float> {
    enum { dtype = TN_F32 };
};
template <>
struct tnc_dtype_of<double> {
    enum { dtype = TN_F64 };
};
template <>
struct tnc_dtype_of<int64_t> {
    enum { dtype = TN_I64 };
};

/* |x| of a complex number, as the CPU makes it: nothing overflows that need not. */
TNC_FN double tnc_magnitude(double re, double im) {
    double large = fabs(re), little = fabs(im), q;
    if (little > large) {
        q = large;
        large = little;
        little = q;
    }
    q = large > 0 && large < INFINITY ? little / large : 0;
    return re != re || im != im ? re + im : large * sqrt(fma(q, q, 1.0));
}
TNC_FN bool tnc_is_nonzero(const char *at, int dtype) {
    switch (dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64: return tnc_load_real<double>(at, dtype) != 0;
    case TN_C64: return tnc_get<float>(at) != 0 || tnc_get<float>(at + 4) != 0;
    case TN_C128: return tnc_get<double>(at) != 0 || tnc_get<double>(at + 8) != 0;
    default: return tnc_load_real<int64_t>(at, dtype) != 0;
    }
}

/* An element as the plan reads it. */
template <class A>
TNC_FN A tnc_take(const tnc_lanes &l, const char *at) {
    const int dtype = (int)l.p.dtype;
    if (l.nonzero) return (A)tnc_is_nonzero(at, dtype);
    if (l.magnitude)
        return (A)(dtype == TN_C64 ? tnc_magnitude(tnc_get<float>(at), tnc_get<float>(at + 4))
                                   : tnc_magnitude(tnc_get<double>(at), tnc_get<double>(at + 8)));
    return dtype == tnc_dtype_of<A>::dtype ? tnc_get<A>(at) : tnc_load_real<A>(at, dtype);
}

/* Bytes of an element of a real dtype. */
TNC_FN int tnc_bytes_of(int dtype) {
    switch (dtype) {
    case TN_I16:
    case TN_F16:
    case TN_BF16: return 2;
    case TN_I32:
    case TN_F32: return 4;
    case TN_I64:
    case TN_F64: return 8;
    default: return 1;
    }
}
template <class R>
TNC_FN void tnc_give(const R &r, const tnc_lanes &l, int64_t result, typename R::part v) {
    const int64_t o = result / l.p.width, c = result % l.p.width;
    R::give(r, l, tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_out, o) + c * l.p.width_out, v);
}
/* A number as result `at` of output k. */
template <class A>
TNC_FN void tnc_give_number(const tnc_lanes &l, int k, int64_t at, A v) {
    const int dtype = l.out_dtype[k];
    tnc_store_real(l.out[k] + at * tnc_bytes_of(dtype), dtype, v);
}

/* --- reducers --------------------------------------------------------------------------------- */

template <class A>
struct tnc_bounds {
    TNC_FN A low() { return -INFINITY; }
    TNC_FN A high() { return INFINITY; }
};
template <>
struct tnc_bounds<int64_t> {
    TNC_FN int64_t low() { return INT64_MIN; }
    TNC_FN int64_t high() { return INT64_MAX; }
};
TNC_FN float tnc_plus(float a, float b) { return a + b; }
TNC_FN double tnc_plus(double a, double b) { return a + b; }
TNC_FN int64_t tnc_plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
TNC_FN float tnc_times(float a, float b) { return a * b; }
TNC_FN double tnc_times(double a, double b) { return a * b; }
TNC_FN int64_t tnc_times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
/* The larger and the smaller one; a NaN wins, the first of equals stays. */
template <class A>
TNC_FN A tnc_larger(A a, A v) {
    return v > a || v != v ? v : a;
}
template <class A>
TNC_FN A tnc_smaller(A a, A v) {
    return v < a || v != v ? v : a;
}

/* How blocks join where counts do not matter. */
template <class Part>
struct tnc_joined {
    typedef Part part;
    template <class R>
    TNC_FN part join(const R &r, part a, part b, int64_t, int64_t) {
        return r.meet(a, b);
    }
};
/* Of reducers whose part is one element. */
template <class A>
struct tnc_plain : tnc_joined<A> {
    typedef A element;
    TNC_FN A from(A a, int lanes) { return __shfl_down_sync(0xffffffffu, a, lanes); }
    TNC_FN A end(A a, const tnc_lanes &) { return a; }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, A a) {
        tnc_give_number(l, 0, at, r.end(a, l));
    }
};
template <class A>
struct tnc_sum : tnc_plain<A> {
    TNC_FN A first() { return 0; }
    TNC_FN A step(A a, A v, int64_t) { return tnc_plus(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_plus(a, b); }
};
template <class A>
struct tnc_max : tnc_plain<A> {
    TNC_FN A first() { return tnc_bounds<A>::low(); }
    TNC_FN A step(A a, A v, int64_t) { return tnc_larger(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_larger(a, b); }
};
template <class A>
struct tnc_min : tnc_plain<A> {
    TNC_FN A first() { return tnc_bounds<A>::high(); }
    TNC_FN A step(A a, A v, int64_t) { return tnc_smaller(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_smaller(a, b); }
};

/* --- kernels ---------------------------------------------------------------------------------- */

/* Elements `begin` to begin + n of a result whose first lies at x, in the lanes of thread t. */
template <class R>
TNC_FN void tnc_block_lanes(const R &r, const tnc_lanes &l, const char *x, int64_t begin, int64_t n,
                            int t, typename R::part *a) {
    typedef typename R::element A;
    enum { EACH = 16 / sizeof(A), LANES = TNC_TEAM * EACH };
    for (int j = 0; j < EACH; j++) a[j] = r.first();
    if (l.straight && n == TNC_BLOCK) {
        const char *at = x + begin * (int64_t)sizeof(A);
        for (int i = t; i < TNC_BLOCK / EACH; i += TNC_TEAM) {
            const tnc_pack<A, EACH> v = tnc_aligned<tnc_pack<A, EACH>>(at)[i];
            for (int j = 0; j < EACH; j++) a[j] = r.step(a[j], v.e[j], begin + i * EACH + j);
        }
        return;
    }
    for (int64_t i = t * EACH; i < n; i += LANES)
        for (int j = 0; j < EACH && i + j < n; j++)
            a[j] = r.step(
                a[j],
                tnc_take<A>(l, x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, begin + i + j)),
                begin + i + j);
}
/* The lanes of a team to one part, in its thread 0; by all threads of the warp. */
template <class R>
TNC_FN typename R::part tnc_team_fold(const R &r, typename R::part *a) {
    enum { EACH = 16 / sizeof(typename R::element) };
    for (int h = TNC_TEAM / 2; h; h /= 2)
        for (int j = 0; j < EACH; j++) a[j] = r.meet(a[j], r.from(a[j], h));
    for (int h = EACH / 2; h; h /= 2)
        for (int j = 0; j < h; j++) a[j] = r.meet(a[j], a[j + h]);
    return a[0];
}

/* Block b of result o, its elements begin to begin + n; x is the result's first element. */
struct tnc_team_job {
    int64_t o, b, begin, n;
    const char *x;
};
TNC_FN tnc_team_job tnc_team_job_of(const tnc_lanes &l, int64_t job, bool mine) {
    tnc_team_job j;
    j.o = mine ? job / l.blocks : 0;
    j.b = mine ? job % l.blocks : 0;
    j.begin = j.b * TNC_BLOCK;
    j.n = !mine ? 0 : l.p.n - j.begin < TNC_BLOCK ? l.p.n - j.begin : (int64_t)TNC_BLOCK;
    j.x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, j.o);
    return j;
}
/* for (first ..): all teams of a warp go round together, for their lanes meet in shuffles. */
#define TNC_TEAMS() ((int64_t)gridDim.x * blockDim.x / TNC_TEAM)
#define TNC_TEAM_NUMBER() (((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / TNC_TEAM)

/* Where part b of `blocks` of a result lies: those of neighbouring columns are neighbours. */
TNC_FN int64_t tnc_part_at(const tnc_lanes &l, int64_t result, int64_t b, int64_t blocks) {
    return l.p.columns ? b * l.results + result : result * blocks + b;
}
/* What is known of a block: the result, or one of its parts. */
template <class R>
TNC_FN void tnc_block_done(const R &r, const tnc_lanes &l, int64_t result, int64_t b,
                           typename R::part a) {
    if (l.blocks == 1)
        tnc_give<R>(r, l, result, a);
    else
        ((typename R::part *)l.parts)[tnc_part_at(l, result, b, l.blocks)] = a;
}

/* A result of which the elements lie in any order: block b of result o by a team. */
template <class R>
__global__ void __launch_bounds__(128) tnc_reduce_rows(tnc_lanes l, R r) {
    enum { EACH = 16 / sizeof(typename R::element) };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER();
        const tnc_team_job j = tnc_team_job_of(l, job, job < all);
        typename R::part a[EACH];
        tnc_block_lanes<R>(r, l, j.x, j.begin, j.n, t, a);
        a[0] = tnc_team_fold<R>(r, a);
        if (job < all && !t) tnc_block_done<R>(r, l, j.o, j.b, a[0]);
    }
}

/* Block b of column c of outer result o: its first element, 64 or fewer rows. */
struct tnc_column_job {
    int64_t result, b, begin, n;
    const char *x;
};
TNC_FN tnc_column_job tnc_column_job_of(const tnc_lanes &l, int64_t job) {
    const int64_t c = job % l.p.width, o = job / l.p.width / l.blocks;
    tnc_column_job j;
    j.b = job / l.p.width % l.blocks;
    j.result = o * l.p.width + c;
    j.begin = j.b * TNC_BLOCK_ROWS;
    j.n = l.p.n - j.begin < TNC_BLOCK_ROWS ? l.p.n - j.begin : (int64_t)TNC_BLOCK_ROWS;
    j.x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, o) + c * l.bytes;
    return j;
}
/* Elements of the arithmetic's type are read some at a time. */
template <class R>
TNC_FN typename R::part tnc_column(const R &r, const tnc_lanes &l, const tnc_column_job &j) {
    typedef typename R::element A;
    enum { AHEAD = 8 };
    const int64_t end = j.begin + j.n, step = l.p.red_step[0];
    const bool own = l.p.nred == 1 && l.p.dtype == (tn_dtype)tnc_dtype_of<A>::dtype && !l.nonzero &&
                     !l.magnitude;
    typename R::part a = r.first();
    int64_t i = j.begin;
    for (; own && i + AHEAD <= end; i += AHEAD) {
        A v[AHEAD];
        for (int e = 0; e < AHEAD; e++) v[e] = tnc_get<A>(j.x + (i + e) * step);
        for (int e = 0; e < AHEAD; e++) a = r.step(a, v[e], i + e);
    }
    for (; i < end; i++)
        a = r.step(a, tnc_take<A>(l, j.x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, i)), i);
    return a;
}

/* Results side by side: a thread has a column of 64 rows. */
template <class R>
__global__ void __launch_bounds__(128) tnc_reduce_columns(tnc_lanes l, R r) {
    const int64_t all = l.results * l.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const tnc_column_job j = tnc_column_job_of(l, job);
        tnc_block_done<R>(r, l, j.result, j.b, tnc_column<R>(r, l, j));
    }
}

/* The join of parts a, b of a tree whose first part is number `begin`; b's first is number `at`
 * within it, `apart` behind a's. */
template <class R>
TNC_FN typename R::part tnc_join_parts(const tnc_lanes &l, const R &r, const typename R::part &a,
                                       const typename R::part &b, int64_t begin, int at, int apart,
                                       int64_t each) {
    const int64_t rest = l.p.n - (begin + at) * each, na = apart * each;
    return R::join(r, a, b, na, rest < na ? rest : na);
}
/* `count` neighbours of each result, each of `each` elements, by subtrees of TNC_TREE, to parts of
 * the next level or to the results. */
template <class R>
__global__ void __launch_bounds__(TNC_TREE)
    tnc_reduce_tree(tnc_lanes l, R r, const char *from, char *to, int64_t count, int64_t each) {
    typedef typename R::part part;
    TNC_SHARED(part, held, TNC_TREE);
    const int64_t trees = (count + TNC_TREE - 1) / TNC_TREE;
    for (int64_t job = blockIdx.x; job < l.results * trees; job += gridDim.x) {
        const int64_t o = job / trees, s = job % trees, begin = s * TNC_TREE, left = count - begin;
        const int n = (int)(left < TNC_TREE ? left : (int64_t)TNC_TREE), i = (int)threadIdx.x;
        if (i < n) held[i] = ((const part *)from)[o * count + begin + i];
        __syncthreads();
        for (int half = 1; half < n; half *= 2) {
            if (i % (2 * half) == 0 && i + half < n) {
                held[i] =
                    tnc_join_parts<R>(l, r, held[i], held[i + half], begin, i + half, half, each);
            }
            __syncthreads();
        }
        if (i == 0 && trees == 1) tnc_give<R>(r, l, o, held[0]);
        if (i == 0 && trees > 1) ((part *)to)[o * trees + s] = held[0];
        __syncthreads();
    }
}

/* Subtrees of neighbouring parts: a stack, of which the two latest can be joined. */
template <class R>
struct tnc_part_stack {
    typename R::part part[8];
    int at[8], n; /* at: the number of its first part */
    __device__ __forceinline__ void push(const typename R::part &v, int i) {
        part[n] = v;
        at[n++] = i;
    }
    __device__ __forceinline__ void join(const tnc_lanes &l, const R &r, int64_t begin,
                                         int64_t each) {
        n--;
        part[n - 1] =
            tnc_join_parts<R>(l, r, part[n - 1], part[n], begin, at[n], at[n] - at[n - 1], each);
    }
};
/* Parts `first` to `end` of a column's tree, as many as a power of 2 if more follow: subtrees are
 * joined where they are equally large, and at the end. */
template <class R>
TNC_FN typename R::part tnc_column_parts(const tnc_lanes &l, const R &r,
                                         const typename R::part *from, int64_t begin, int first,
                                         int end, int64_t each) {
    tnc_part_stack<R> s;
    s.n = 0;
    for (int i = first; i < end; i++) {
        s.push(from[(begin + i) * l.results], i);
        for (int whole = i - first; whole & 1; whole >>= 1) s.join(l, r, begin, each);
    }
    while (s.n > 1) s.join(l, r, begin, each);
    return s.part[0];
}
/* The same as tnc_reduce_tree for columns: 32 of them, whose neighbours are read side by side, by 8
 * threads each, which join what they have in shared memory. */
template <class R>
__global__ void __launch_bounds__(TNC_TREE)
    tnc_reduce_tree_columns(tnc_lanes l, R r, const char *from, char *to, int64_t count,
                            int64_t each) {
    typedef typename R::part part;
    enum { BESIDE = 32, DOWN = TNC_TREE / BESIDE };
    TNC_SHARED(part, held, TNC_TREE);
    const int t = (int)threadIdx.x, w = t / BESIDE;
    const int64_t trees = (count + TNC_TREE - 1) / TNC_TREE,
                  groups = (l.results + BESIDE - 1) / BESIDE;
    for (int64_t job = blockIdx.x; job < groups * trees; job += gridDim.x) {
        const int64_t s = job / groups, o = job % groups * BESIDE + t % BESIDE,
                      begin = s * TNC_TREE, left = count - begin;
        const int n = (int)(left < TNC_TREE ? left : (int64_t)TNC_TREE);
        int own = 1; /* parts of a thread */
        while (own * DOWN < n) own *= 2;
        if (o < l.results && w * own < n)
            held[t] = tnc_column_parts<R>(l, r, (const part *)from + o, begin, w * own,
                                          (w + 1) * own < n ? (w + 1) * own : n, each);
        __syncthreads();
        for (int half = 1; half * own < n; half *= 2) {
            if (o < l.results && w % (2 * half) == 0 && (w + half) * own < n)
                held[t] = tnc_join_parts<R>(l, r, held[t], held[t + half * BESIDE], begin,
                                            (w + half) * own, half * own, each);
            __syncthreads();
        }
        if (w == 0 && o < l.results && trees == 1) tnc_give<R>(r, l, o, held[t]);
        if (w == 0 && o < l.results && trees > 1) ((part *)to)[s * l.results + o] = held[t];
        __syncthreads();
    }
}

/* --- host ------------------------------------------------------------------------------------- */

/* The plan of x over the dimensions with gone[d]; the outputs are f's. */
TNC_PRIV void tnc_lanes_of(tnc_lanes *l, const tn_frame *f, tn_tensor *x, const bool *gone,
                           tn_dtype compute, int how);
/* Blocks and layout of a plan. */
TNC_PRIV void tnc_lanes_layout(tnc_lanes *l);
/* Bytes of parts of all levels of the tree; 0: there is one block. */
TNC_PRIV bool tnc_lanes_bytes(const tnc_lanes *l, int64_t part, int64_t *bytes);

/* Which dimensions of the first input go: those of a list, which if absent or empty means all. */
static inline void tnc_gone_list(const tn_frame *f, tn_ints dim, bool *gone) {
    const int n = (int)tn_ndim(f->in[0]);
    for (int d = 0; d < n; d++) gone[d] = dim.n <= 0;
    for (int64_t i = 0; i < dim.n && n; i++) gone[dim.at[i] < 0 ? dim.at[i] + n : dim.at[i]] = true;
}
/* One; absent means all. */
static inline void tnc_gone_one(const tn_frame *f, int64_t dim, bool *gone) {
    tnc_gone_list(f, tn_ints_of(&dim, dim == TN_NONE ? 0 : 1), gone);
}
/* The type that reductions of this dtype are computed in (cpu/lanes.c). */
static inline tn_dtype tnc_reduce_compute(int dtype) {
    switch (dtype) {
    case TN_F64:
    case TN_C128: return TN_F64;
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_C64: return TN_F32;
    default: return TN_I64;
    }
}
/* For prepare: scratch for parts of so many bytes. */
TNC_PRIV bool tnc_lanes_scratch(tn_frame *f, const tnc_lanes *l, int64_t part);

/* Parts of blocks to results: levels lie one behind another. */
template <class R>
static void tnc_reduce_trees(cudaStream_t s, const tnc_lanes &l, const R &r) {
    const char *from = l.parts;
    int64_t each = l.p.columns ? TNC_BLOCK_ROWS : TNC_BLOCK;
    for (int64_t n = l.blocks; n > 1;) {
        const int64_t trees = (n + TNC_TREE - 1) / TNC_TREE;
        char *to = (char *)(uintptr_t)from + n * l.results * (int64_t)sizeof(typename R::part);
        if (l.p.columns)
            TNC_LAUNCH((tnc_reduce_tree_columns<R>), tnc_blocks((l.results + 31) / 32 * trees, 1),
                       TNC_TREE, s, l, r, from, to, n, each);
        else
            TNC_LAUNCH((tnc_reduce_tree<R>), tnc_blocks(l.results * trees, 1), TNC_TREE, s, l, r,
                       from, to, n, each);
        from = to;
        n = trees;
        each *= TNC_TREE;
    }
}
template <class R>
static void tnc_reduce(cudaStream_t s, const tnc_lanes &l, const R &r) {
    if (!l.results) return;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_reduce_columns<R>), tnc_blocks(l.results * l.blocks, 128), 128, s, l,
                         r);
    else
        TNC_LAUNCH((tnc_reduce_rows<R>), tnc_blocks(l.results * l.blocks, 128 / TNC_TEAM), 128, s,
                   l, r);
    tnc_reduce_trees<R>(s, l, r);
}

#endif
