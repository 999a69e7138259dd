/* expressions.cu - the rows that are expressions: three kernels for each row and type that it is
 * computed in, one table. No row is named here.
 *
 * flat: elements of the computed type lie one after another in every tensor: 16 bytes a load.
 * half: the same of 16-bit floats, 8 elements at a time, computed in f32.
 * any: strides, broadcasting, other dtypes. */
#include "elements.cuh"
#include "families.cuh"

enum { EXPRESSION_IN = 3 };

/* What a kernel is given. at[0] is the result's; an input without an address is one number. */
struct tnc_expression {
    tnc_walk<1 + EXPRESSION_IN> walk;
    uint8_t dtype[1 + EXPRESSION_IN], common, made, rounded;
    double one[EXPRESSION_IN][2]; /* numbers in inputs' places, in the computed type */
    double numbers[6];            /* number parameters, in the computed type */
};

template <class Op>
TNC_FN typename Op::value tnc_number(const double *at, int i = 0) {
    typedef tnc_of<Op::type> of;
    return tnc_move<Op::type>::load((const char *)at + i * of::bytes, of::dtype, of::dtype);
}

template <class Op, int select>
struct tnc_apply {
    template <class V>
    TNC_FN typename Op::result of(V x, V y, V z, const V *p, bool) {
        return Op::call(x, y, z, p);
    }
};
template <class Op>
struct tnc_apply<Op, 1> {
    template <class V>
    TNC_FN typename Op::result of(V, V y, V z, const V *p, bool mask) {
        return Op::call(mask, y, z, p);
    }
};

/* --- how elements lie in memory, for flat and half -------------------------------------------- */

/* half: 0 the computed type's own dtype, else TN_F16 or TN_BF16. */
template <int type, int half>
struct tnc_cell {
    typedef uint16_t E;
    TNC_FN float get(E e) { return tnc_half<half>::get(e); }
    template <class R>
    TNC_FN E put(R r) {
        return tnc_half<half>::put((float)r);
    }
};
template <int type>
struct tnc_cell<type, 0> {
    typedef typename tnc_of<type>::value E;
    TNC_FN typename tnc_of<type>::value get(E e) { return (typename tnc_of<type>::value)e; }
    template <class R>
    TNC_FN R put(R r) {
        return r;
    }
};
template <>
struct tnc_cell<TNC_BOOL, 0> {
    typedef uint8_t E;
    TNC_FN int64_t get(E e) { return e != 0; }
    TNC_FN uint8_t put(int64_t r) { return (uint8_t)(r & 1); }
    TNC_FN uint8_t put(uint8_t r) { return (uint8_t)(r & 1); }
};
/* What an expression of result R writes: a predicate a byte in any cell. */
template <class R, int type, int half>
struct tnc_result {
    typedef R E;
};
template <>
struct tnc_result<int64_t, TNC_BOOL, 0> {
    typedef uint8_t E;
};
template <>
struct tnc_result<float, TNC_F32, TN_F16> {
    typedef uint16_t E;
};
template <>
struct tnc_result<float, TNC_F32, TN_BF16> {
    typedef uint16_t E;
};
template <class Out>
struct tnc_written {
    template <class Cell, class R>
    TNC_FN Out of(R r) {
        return (Out)Cell::put(r);
    }
};
template <>
struct tnc_written<uint8_t> {
    template <class Cell, class R>
    TNC_FN uint8_t of(R r) {
        return (uint8_t)r & 1;
    }
};
template <>
struct tnc_written<tnc_c64> {
    template <class Cell, class R>
    TNC_FN tnc_c64 of(R r) {
        return r;
    }
};
template <>
struct tnc_written<tnc_c128> {
    template <class Cell, class R>
    TNC_FN tnc_c128 of(R r) {
        return r;
    }
};

/* --- kernels ---------------------------------------------------------------------------------- */

template <class Op, int half>
struct tnc_flat {
    typedef typename Op::value V;
    typedef tnc_cell<Op::type, half> cell;
    typedef typename cell::E E;
    typedef typename tnc_result<typename Op::result, Op::type, half>::E Out;
    enum { N = sizeof(E) >= 16 ? 1 : 16 / sizeof(E) };
    V p[3], one[EXPRESSION_IN];
    bool mask_one;

    __device__ __forceinline__ explicit tnc_flat(const tnc_expression &a) {
        for (int i = 0; i < Op::numbers; i++) p[i] = tnc_number<Op>(a.numbers, i);
        for (int k = 0; k < Op::tensors; k++) one[k] = tnc_number<Op>(a.one[k]);
        mask_one = Op::select && *(const uint8_t *)a.one[0] != 0;
    }
    /* Element j of packs x, y, z and of the mask m; `in`: which inputs are tensors. */
    template <class X, class M>
    __device__ __forceinline__ Out element(const X &x, const X &y, const X &z, const M &m, int j,
                                           const char *const *in) const {
        const V u = !Op::select && in[1] ? cell::get(x.e[j]) : one[0],
                v = Op::tensors > 1 && in[2] ? cell::get(y.e[j]) : one[Op::tensors > 1 ? 1 : 0],
                w = Op::tensors > 2 && in[3] ? cell::get(z.e[j]) : one[Op::tensors > 2 ? 2 : 0];
        const bool b = Op::select && in[1] ? m.e[j] != 0 : mask_one;
        return tnc_written<Out>::template of<cell>(tnc_apply<Op, Op::select>::of(u, v, w, p, b));
    }
    /* n elements from pack i on. */
    template <int n>
    __device__ __forceinline__ void pack(const tnc_expression &a, int64_t i) const {
        tnc_pack<E, n> x = {}, y = {}, z = {};
        tnc_pack<uint8_t, n> m = {};
        tnc_pack<Out, n> r;
        const char *const *in = a.walk.at;
        if (Op::select && in[1])
            m = tnc_aligned<tnc_pack<uint8_t, n>>(in[1])[i];
        else if (in[1])
            x = tnc_aligned<tnc_pack<E, n>>(in[1])[i];
        if (Op::tensors > 1 && in[2]) y = tnc_aligned<tnc_pack<E, n>>(in[2])[i];
        if (Op::tensors > 2 && in[3]) z = tnc_aligned<tnc_pack<E, n>>(in[3])[i];
        for (int j = 0; j < n; j++) r.e[j] = element(x, y, z, m, j, in);
        ((tnc_pack<Out, n> *)(uintptr_t)tnc_aligned<tnc_pack<Out, n>>(in[0]))[i] = r;
    }
};

template <class Op, int half>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_flat(tnc_expression a) {
    const tnc_flat<Op, half> flat(a);
    enum { N = tnc_flat<Op, half>::N };
    const int64_t whole = a.walk.n / N;
    for (int64_t i = TNC_FIRST(); i < whole; i += TNC_STEP()) flat.template pack<N>(a, i);
    if (blockIdx.x) return;
    for (int64_t i = whole * N + threadIdx.x; i < a.walk.n; i += blockDim.x)
        flat.template pack<1>(a, i);
}

/* The type that a result is kept in: bool's is a byte of it, a real part's is real. */
template <class R>
struct tnc_kept;
template <>
struct tnc_kept<float> {
    enum { type = TNC_F32 };
};
template <>
struct tnc_kept<double> {
    enum { type = TNC_F64 };
};
template <>
struct tnc_kept<int32_t> {
    enum { type = TNC_I32 };
};
template <>
struct tnc_kept<int64_t> {
    enum { type = TNC_I64 };
};
template <>
struct tnc_kept<uint8_t> {
    enum { type = TNC_BOOL };
};
template <>
struct tnc_kept<tnc_c64> {
    enum { type = TNC_C64 };
};
template <>
struct tnc_kept<tnc_c128> {
    enum { type = TNC_C128 };
};

template <class Op>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_any(tnc_expression a) {
    typedef typename Op::value V;
    typedef tnc_move<Op::type> move;
    enum {
        kept = (int)Op::type == (int)TNC_BOOL ? (int)TNC_BOOL
                                              : (int)tnc_kept<typename Op::result>::type
    };
    V p[3];
    for (int i = 0; i < Op::numbers; i++) p[i] = tnc_number<Op>(a.numbers, i);
    for (int64_t i = TNC_FIRST(); i < a.walk.n; i += TNC_STEP()) {
        const char *const *in = a.walk.at;
        int64_t at[1 + EXPRESSION_IN];
        V x[EXPRESSION_IN];
        bool mask = false;
        tnc_walk_to(a.walk, (uint32_t)i, at);
        if (Op::select)
            mask = *(const uint8_t *)(in[1] ? in[1] + at[1] : (const char *)a.one[0]) != 0;
        for (int k = 0; k < EXPRESSION_IN; k++) {
            if (k >= Op::tensors || (Op::select && k == 0))
                x[k] = tnc_number<Op>(a.one[0]); /* not looked at */
            else
                x[k] = in[k + 1] ? move::load(in[k + 1] + at[k + 1], a.dtype[k + 1], a.common)
                                 : tnc_number<Op>(a.one[k]);
        }
        tnc_move<kept>::store(a.walk.at[0] + at[0], a.dtype[0], a.rounded,
                              tnc_apply<Op, Op::select>::of(x[0], x[1], x[2], p, mask));
    }
}

/* The 16-bit float next to x on the way to y: the bits of such numbers, read as integers, grow with
 * their magnitude. */
template <int half>
TNC_FN float tnc_step_half(float x, float y) {
    uint16_t bits;
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    bits = tnc_half<half>::put(x == 0 ? copysignf(0, y) : x);
    bits = (uint16_t)(x == 0 || (x < y) == (x > 0) ? bits + 1 : bits - 1);
    return tnc_half<half>::get(bits);
}
/* nextafter of 16-bit floats, which steps in its own dtype. */
template <int half>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_step(tnc_expression a) {
    const char *const *in = a.walk.at;
    for (int64_t i = TNC_FIRST(); i < a.walk.n; i += TNC_STEP()) {
        int64_t at[1 + EXPRESSION_IN];
        float v[2];
        tnc_walk_to(a.walk, (uint32_t)i, at);
        for (int k = 0; k < 2; k++)
            v[k] = in[k + 1]
                       ? tnc_move<TNC_F32>::load(in[k + 1] + at[k + 1], a.dtype[k + 1], a.common)
                       : tnc_through(tnc_get<float>((const char *)a.one[k]), a.common);
        tnc_store_real(a.walk.at[0] + at[0], a.dtype[0], tnc_step_half<half>(v[0], v[1]));
    }
}

/* --- the table -------------------------------------------------------------------------------- */

struct tnc_expression_entry {
    void (*flat)(cudaStream_t s, const tnc_expression &a, int half);
    void (*any)(cudaStream_t s, const tnc_expression &a);
};
template <class Op, int type>
struct tnc_halves {
    static void go(cudaStream_t, const tnc_expression &, int) {}
};
template <class Op>
struct tnc_halves<Op, TNC_F32> {
    static void go(cudaStream_t s, const tnc_expression &a, int half) {
        const unsigned blocks = tnc_blocks(a.walk.n, TNC_THREADS * 8);
        if (half == TN_F16)
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, TN_F16>), blocks, TNC_THREADS, s, a);
        else
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, TN_BF16>), blocks, TNC_THREADS, s, a);
    }
};
template <class Op>
struct tnc_expression_go {
    static void flat(cudaStream_t s, const tnc_expression &a, int half) {
        if (half)
            tnc_halves<Op, Op::type>::go(s, a, half);
        else
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, 0>), tnc_blocks(a.walk.n, TNC_THREADS * 4),
                             TNC_THREADS, s, a);
    }
    static void any(cudaStream_t s, const tnc_expression &a) {
        TNC_LAUNCH_PLAIN((tnc_expression_any<Op>), tnc_blocks(a.walk.n, TNC_THREADS), TNC_THREADS,
                         s, a);
    }
    static const tnc_expression_entry *entry() {
        static const tnc_expression_entry e = {flat, any};
        return &e;
    }
};

struct tnc_expression_row {
    const char *name;
    const tnc_expression_entry *of[TNC_TYPES];
};
#define TNC_WHEN_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_0(op) NULL
#define TNC_WHEN_F32_0(op) NULL
#define TNC_WHEN_F32_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_F32_2(op) NULL
#define TNC_WHEN_F64_0(op) NULL
#define TNC_WHEN_F64_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_F64_2(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C64_0(op) NULL
#define TNC_WHEN_C64_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C64_2(op) NULL
#define TNC_WHEN_C128_0(op) NULL
#define TNC_WHEN_C128_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C128_2(op) tnc_expression_go<op>::entry()
#define TNI_ROW_LOOP(name, kinds, form, nt, nn, F, I, C, B)                     \
    {#name,                                                                     \
     {TNC_WHEN_F32_##F(tnc_##name##_f32), TNC_WHEN_F64_##F(tnc_##name##_f64),   \
      TNC_WHEN_##I(tnc_##name##_i32), TNC_WHEN_##I(tnc_##name##_i64),           \
      TNC_WHEN_C64_##C(tnc_##name##_c64), TNC_WHEN_C128_##C(tnc_##name##_c128), \
      TNC_WHEN_##B(tnc_##name##_truth)}},
static const tnc_expression_row *expression_rows(int *count) {
    static const tnc_expression_row rows[] = {
#include "../gen/loops.inl"
    };
    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}
#undef TNI_ROW_LOOP

/* --- host ------------------------------------------------------------------------------------- */

/* The row's kernels; rows are sorted by name. */
static const tnc_expression_row *expression_of(const tn_frame *f) {
    int high, low = 0;
    const tnc_expression_row *rows = expression_rows(&high);
    while (low < high) {
        const int middle = (low + high) / 2, order = strcmp(f->row->name, rows[middle].name);
        if (order == 0) return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int expression_type(tn_dtype native) {
    switch (native) {
    case TN_F32: return TNC_F32;
    case TN_F64: return TNC_F64;
    case TN_I32: return TNC_I32;
    case TN_I64: return TNC_I64;
    case TN_C64: return TNC_C64;
    case TN_C128: return TNC_C128;
    default: return TNC_BOOL;
    }
}

/* Whether 16 bytes may be moved at a time: all lie alike, in the dtype that is computed. */
static bool expression_is_flat(const tn_frame *f, const tn_pointwise_plan *p, int half) {
    const tn_dtype lies = half ? p->common : p->native;
    bool flat = p->flat && !(half && p->native == TN_F64) && (half || p->common == p->native) &&
                (uintptr_t)p->walk.at[0] % 16 == 0 &&
                tn_dtype_of(f->out[0]) == (half && p->made == p->native ? p->common : p->made);
    for (int k = 0; k < f->nin; k++)
        flat = flat &&
               (p->number[k] || (tn_dtype_of(f->in[k]) == (p->mask && k == 0 ? TN_BOOL : lies) &&
                                 (uintptr_t)p->walk.at[k + 1] % 16 == 0));
    return flat;
}

static bool expression_prepare(tn_frame *f) {
    tn_pointwise_plan p;
    const tnc_expression_row *row = expression_of(f);
    tn_pointwise_plan_of(&p, f);
    if (!row || !row->of[expression_type(p.native)])
        return tn_fail(f, TN_INTERNAL, "%s was compiled for another version", "libtensor_cuda");
    return true;
}

static void expression_step(cudaStream_t s, const tnc_expression &a, int half) {
    const unsigned blocks = tnc_blocks(a.walk.n, TNC_THREADS);
    if (half == TN_F16)
        TNC_LAUNCH_PLAIN((tnc_expression_step<TN_F16>), blocks, TNC_THREADS, s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_expression_step<TN_BF16>), blocks, TNC_THREADS, s, a);
}

static void expression_run(tn_frame *f) {
    tn_pointwise_plan p;
    tnc_expression a;
    const tnc_expression_entry *e;
    cudaStream_t s = tnc_stream(f);
    int half;
    tn_pointwise_plan_of(&p, f);
    e = expression_of(f)->of[expression_type(p.native)];
    half = p.common == TN_F16 || p.common == TN_BF16 ? (int)p.common : 0;
    a.common = (uint8_t)p.common;
    a.made = (uint8_t)p.made;
    a.rounded = (uint8_t)p.rounded;
    memcpy(a.one, p.one, sizeof a.one);
    memcpy(a.numbers, p.numbers, sizeof a.numbers);
    a.dtype[0] = (uint8_t)tn_dtype_of(f->out[0]);
    for (int k = 0; k < f->nin; k++) {
        a.dtype[k + 1] = (uint8_t)tn_dtype_of(f->in[k]);
        if (p.number[k]) p.walk.at[k + 1] = NULL;
    }
    if (half && strcmp(f->row->name, "nextafter") == 0) {
        tnc_walk_pieces<1 + EXPRESSION_IN>(p.walk, [&](const tnc_walk<1 + EXPRESSION_IN> &w) {
            a.walk = w;
            expression_step(s, a, half);
        });
        return;
    }
    if (expression_is_flat(f, &p, half)) {
        for (int k = 0; k < 1 + EXPRESSION_IN; k++)
            a.walk.at[k] = k < p.walk.n ? p.walk.at[k] : NULL;
        a.walk.n = p.walk.numel;
        if (a.walk.n) e->flat(s, a, half);
        return;
    }
    tnc_walk_pieces<1 + EXPRESSION_IN>(p.walk, [&](const tnc_walk<1 + EXPRESSION_IN> &w) {
        a.walk = w;
        e->any(s, a);
    });
}

/* What the row looks for in a number (an integer 0 as divisor) is looked for on the host; a tensor
 * of divisors is not read. */
static bool expression_look(tn_frame *f) {
    if (!f->row->look || f->nin < 2 || !tn_operand_of(f->in[1]).on_host) return true;
    return f->row->look(f);
}

static const tn_device_row expression_table[] = {
    {NULL, false, expression_look, expression_prepare, expression_run}};
TNC_FAMILY(expressions, expression_table)
