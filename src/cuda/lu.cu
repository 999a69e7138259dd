/* lu.cu - LU factorizations, systems and inverses by them, in the order of the CPU
 * (ops/linalg/lu.c, inverse.c); their matrices go by blocks of batches (blocks.cuh). */
#include "blocks.cuh"
#include "families.cuh"
#include "here.cuh"
#include "places.cuh"

/* For prepare: so many bytes in all. */
static bool lu_scratch(tn_frame *f, bool fits, int64_t bytes) {
    if (!fits) return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
/* *bytes grows by batches of m x n matrices and `more` int32 each, a multiple of 16. */
static bool lu_room(int64_t *bytes, const tn_operand &t, int64_t m, int64_t n, int64_t batches,
                    int64_t more) {
    int64_t all, ints;
    return !__builtin_mul_overflow(m, n, &all) && !__builtin_mul_overflow(all, t.bytes, &all) &&
           !__builtin_mul_overflow(more, 4, &ints) && !__builtin_add_overflow(all, ints, &all) &&
           !__builtin_mul_overflow(all, batches, &all) && all < INT64_MAX / 4 &&
           !__builtin_add_overflow(*bytes, (all + 15) / 16 * 16, bytes);
}
static void lu_clear(cudaStream_t s, int32_t *at, int64_t n) {
    if (n) cudaMemsetAsync(at, 0, (size_t)n * sizeof *at, s);
}

/* --- the factorization ------------------------------------------------------------------------ */

static bool lu_factor_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    int64_t bytes = 0;
    const bool fits =
        lu_room(&bytes, a, a.size[a.ndim - 2], a.size[a.ndim - 1], factor_count(a), 0);
    return lu_scratch(f, fits, bytes);
}
static void lu_factor_run(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), lu = tn_operand_of(f->out[0]);
    const int64_t m = a.size[a.ndim - 2], n = a.size[a.ndim - 1], batches = factor_count(a);
    const cudaStream_t s = tnc_stream(f);
    const tnc_pivots p = {(int32_t *)tn_device_data(f->out[1]), m < n ? m : n};
    int32_t *info = (int32_t *)tn_device_data(f->out[2]);
    char *room = (char *)f->scratch;
    const tnc_block b = tnc_block_in(&room, a.dtype, m, n, batches);
    lu_clear(s, info, batches);
    if (!a.numel) return;
    tnc_block_load(s, b, a, a, TNC_AS_IS);
    tnc_block_lu(s, b, p, info);
    tnc_block_store(s, b, lu, TNC_AS_IS);
}

/* --- systems of matrices that are factored here ----------------------------------------------- */

/* Matrices, pivots and a number each, in *room. */
struct lu_factors {
    tnc_block a;
    tnc_pivots p;
    int32_t *info;
};
static lu_factors lu_factors_in(char **room, const tn_operand &t, int64_t n, int64_t batches) {
    lu_factors x;
    char *begin = *room;
    x.a = tnc_block_in(room, t.dtype, n, n, batches);
    x.p.at = (int32_t *)(void *)*room;
    x.p.n = n;
    x.info = x.p.at + n * batches;
    *room = (char *)(x.info + batches);
    *room = begin + (*room - begin + 15) / 16 * 16;
    return x;
}
/* t's matrices, broadcast to the batches of `like`, as factors. */
static void lu_make(cudaStream_t s, const lu_factors &x, const tn_operand &t,
                    const tn_operand &like, int how, int32_t *info) {
    lu_clear(s, info, x.a.batches);
    tnc_block_load(s, x.a, t, like, how);
    tnc_block_lu(s, x.a, x.p, info);
}
static bool solve_lu_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), x = tn_operand_of(f->out[0]);
    const int64_t n = a.size[a.ndim - 1], own = factor_count(a), all = factor_count(x);
    int64_t bytes = 0;
    const bool fits = lu_room(&bytes, a, n, n, own > all ? own : all, n + 1) &&
                      lu_room(&bytes, a, 1, x.numel, 1, 0);
    return lu_scratch(f, fits, bytes);
}
static void solve_lu_run(tn_frame *f) {
    TN_ARGS(linalg_solve_lu, o, f);
    const tn_operand a = tn_operand_of(f->in[0]), b = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const int how = o->left ? TNC_AS_IS : TNC_TRANSPOSED; /* x a = b is a^T x^T = b^T */
    const int64_t n = a.size[a.ndim - 1], k = b.size[b.ndim - (o->left ? 1 : 2)],
                  own = factor_count(a), all = factor_count(out);
    const cudaStream_t s = tnc_stream(f);
    int32_t *info = (int32_t *)tn_device_data(f->out[1]);
    char *room = (char *)f->scratch;
    lu_factors x = lu_factors_in(&room, a, n, own);
    lu_make(s, x, a, a, how, info);
    if (own != all) { /* again where they are broadcast, in the same memory */
        room = (char *)f->scratch;
        x = lu_factors_in(&room, a, n, all);
        lu_make(s, x, a, out, how, x.info);
    }
    if (!out.numel) return;
    const tnc_block to = tnc_block_in(&room, a.dtype, n, k, all);
    tnc_block_load(s, to, b, out, how);
    tnc_block_lu_solve(s, x.a, x.p, to, false);
    tnc_block_store(s, to, out, how);
}

static bool inv_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int64_t n = a.size[a.ndim - 1];
    int64_t bytes = 0;
    const bool fits = lu_room(&bytes, a, n, n, factor_count(a), n + 1) &&
                      lu_room(&bytes, a, n, n, factor_count(a), 0);
    return lu_scratch(f, fits, bytes);
}
static void inv_run(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const int64_t n = a.size[a.ndim - 1], batches = factor_count(a);
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    const lu_factors x = lu_factors_in(&room, a, n, batches);
    lu_make(s, x, a, a, TNC_AS_IS, (int32_t *)tn_device_data(f->out[1]));
    if (!out.numel) return;
    const tnc_block to = tnc_block_in(&room, a.dtype, n, n, batches);
    tnc_block_clear(s, to, TNC_KEEP_UNIT);
    tnc_block_lu_solve(s, x.a, x.p, to, false);
    tnc_block_store(s, to, out, TNC_AS_IS);
}

/* --- systems by factors that are given -------------------------------------------------------- */

/* Pivots of vectors in batches: n a vector, `step` elements apart. */
struct tnc_lu_pivots {
    const int32_t *from;
    int32_t *to;
    int64_t n, step, batches, size[TN_MAX_DIMS], batch[TN_MAX_DIMS];
    int32_t nbatch;
};
TNC_FN const int32_t *tnc_lu_vector(const tnc_lu_pivots &p, int64_t batch) {
    int64_t at = 0;
    for (int d = p.nbatch - 1; d >= 0; d--) {
        at += batch % p.size[d] * p.batch[d];
        batch /= p.size[d];
    }
    return p.from + at;
}
static __global__ void __launch_bounds__(TNC_THREADS) tnc_lu_spread(tnc_lu_pivots p) {
    for (int64_t i = TNC_FIRST(); i < p.n * p.batches; i += TNC_STEP())
        p.to[i] = tnc_lu_vector(p, i / p.n)[i % p.n * p.step];
}
/* Of t, broadcast to the batches of the matrices `like`. */
static tnc_lu_pivots lu_pivots_of(const tn_operand &t, const tn_operand &like) {
    tnc_lu_pivots p;
    memset(&p, 0, sizeof p);
    p.from = (const int32_t *)(const void *)t.at;
    p.n = t.size[t.ndim - 1];
    p.step = t.stride[t.ndim - 1];
    p.batches = factor_count(like);
    p.nbatch = like.ndim - 2;
    for (int d = 0; d < p.nbatch; d++) {
        const int own = d - (p.nbatch - (t.ndim - 1));
        p.size[d] = like.size[d];
        p.batch[d] = own < 0 || t.size[own] == 1 ? 0 : t.stride[own];
    }
    return p;
}
static bool lu_solve_look(tn_frame *f) { return tnc_here_look(f, 2); }
static bool lu_solve_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), x = tn_operand_of(f->out[0]);
    const int64_t n = a.size[a.ndim - 1];
    int64_t bytes = 0;
    const bool fits =
        lu_room(&bytes, a, n, n, factor_count(x), n + 1) && lu_room(&bytes, a, 1, x.numel, 1, 0);
    return !x.numel || lu_scratch(f, fits, bytes);
}
static void lu_solve_run(tn_frame *f) {
    TN_ARGS(linalg_lu_solve, o, f);
    const tn_operand a = tn_operand_of(f->in[0]), b = tn_operand_of(f->in[2]),
                     out = tn_operand_of(f->out[0]);
    const int turned = o->left ? TNC_AS_IS : TNC_ADJOINT; /* x a = b is a^H x^H = b^H */
    const bool adjoint = o->adjoint == o->left;
    const int64_t n = a.size[a.ndim - 1], k = b.size[b.ndim - (o->left ? 1 : 2)],
                  all = factor_count(out);
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    if (!out.numel) return;
    const lu_factors x = lu_factors_in(&room, a, n, all);
    const tnc_block to = tnc_block_in(&room, a.dtype, n, k, all);
    tnc_lu_pivots p = lu_pivots_of(tn_operand_of(f->in[1]), out);
    p.to = x.p.at;
    TNC_LAUNCH_PLAIN((tnc_lu_spread), tnc_blocks(n * all, TNC_THREADS), TNC_THREADS, s, p);
    tnc_block_load(s, x.a, a, out, adjoint ? TNC_ADJOINT : TNC_AS_IS);
    tnc_block_load(s, to, b, out, turned);
    tnc_block_lu_solve(s, x.a, x.p, to, adjoint);
    tnc_block_store(s, to, out, turned);
}

/* --- P, L and U ------------------------------------------------------------------------------- */

/* Elements of matrices of any dtype, steps in bytes. side -1: ones on the diagonal and zeros above
 * it, 1: zeros below it. */
struct tnc_lu_triangle {
    const char *from;
    char *to;
    int64_t m, n, batches, from_row, from_col, to_row, to_col, size[TN_MAX_DIMS],
        from_batch[TN_MAX_DIMS], to_batch[TN_MAX_DIMS];
    int32_t nbatch, side;
    tnc_pair one;
};
TNC_FN void tnc_lu_batch(const tnc_lu_triangle &a, int64_t batch, int64_t *from, int64_t *to) {
    *from = *to = 0;
    for (int d = a.nbatch - 1; d >= 0; d--) {
        *from += batch % a.size[d] * a.from_batch[d];
        *to += batch % a.size[d] * a.to_batch[d];
        batch /= a.size[d];
    }
}
template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_lu_part(tnc_lu_triangle a) {
    E one, zero;
    memcpy(&one, &a.one, sizeof one);
    memset(&zero, 0, sizeof zero);
    for (int64_t i = TNC_FIRST(); i < a.m * a.n * a.batches; i += TNC_STEP()) {
        const int64_t c = i % a.n, r = i / a.n % a.m;
        int64_t from, to;
        tnc_lu_batch(a, i / a.n / a.m, &from, &to);
        E *e = (E *)(a.to + to + r * a.to_row + c * a.to_col);
        if (a.side > 0 ? r > c : r < c)
            *e = zero;
        else if (a.side < 0 && r == c)
            *e = one;
        else
            *e = *(const E *)(a.from + from + r * a.from_row + c * a.from_col);
    }
}
/* A thread a matrix: which row stands where once the exchanges are done; m numbers each. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_lu_order(tnc_lu_pivots p, int32_t *order, int64_t m) {
    for (int64_t batch = TNC_FIRST(); batch < p.batches; batch += TNC_STEP()) {
        const int32_t *at = tnc_lu_vector(p, batch);
        int32_t *to = order + batch * m;
        for (int64_t j = 0; j < m; j++) to[j] = (int32_t)j;
        for (int64_t j = 0; j < p.n; j++) {
            const int64_t k = at[j * p.step] - 1;
            const int32_t x = to[j];
            to[j] = to[k];
            to[k] = x;
        }
    }
}
/* P[order[c], c] is 1. */
template <class E>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_lu_permutation(tnc_lu_triangle a, const int32_t *order) {
    E one, zero;
    memcpy(&one, &a.one, sizeof one);
    memset(&zero, 0, sizeof zero);
    for (int64_t i = TNC_FIRST(); i < a.m * a.m * a.batches; i += TNC_STEP()) {
        const int64_t c = i % a.m, r = i / a.m % a.m, batch = i / a.m / a.m;
        int64_t from, to;
        tnc_lu_batch(a, batch, &from, &to);
        *(E *)(a.to + to + r * a.to_row + c * a.to_col) = r == order[batch * a.m + c] ? one : zero;
    }
}

/* From `in` to t, which has its batches. */
static tnc_lu_triangle lu_triangle_of(const tn_operand &in, const tn_operand &t, int side) {
    tnc_lu_triangle a;
    memset(&a, 0, sizeof a);
    a.from = in.at;
    a.to = t.at;
    a.m = t.size[t.ndim - 2];
    a.n = t.size[t.ndim - 1];
    a.batches = factor_count(t);
    a.from_row = in.stride[in.ndim - 2] * in.bytes;
    a.from_col = in.stride[in.ndim - 1] * in.bytes;
    a.to_row = t.stride[t.ndim - 2] * t.bytes;
    a.to_col = t.stride[t.ndim - 1] * t.bytes;
    a.nbatch = t.ndim - 2;
    for (int d = 0; d < a.nbatch; d++) {
        a.size[d] = t.size[d];
        a.from_batch[d] = in.stride[d] * in.bytes;
        a.to_batch[d] = t.stride[d] * t.bytes;
    }
    a.side = side;
    tn_scalar_element(tn_int(1), (tn_dtype)in.dtype, &a.one);
    return a;
}
static bool lu_unpack_look(tn_frame *f) { return tnc_here_look(f, 2); }
static bool lu_unpack_prepare(tn_frame *f) {
    TN_ARGS(lu_unpack, o, f);
    const tn_operand a = tn_operand_of(f->in[0]);
    int64_t bytes = 0;
    const bool fits = lu_room(&bytes, a, 0, 0, factor_count(a), a.size[a.ndim - 2]);
    return !o->unpack_pivots || lu_scratch(f, fits, bytes);
}
static void lu_unpack_run(tn_frame *f) {
    TN_ARGS(lu_unpack, o, f);
    const tn_operand in = tn_operand_of(f->in[0]), permutation = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    for (int k = 1; k < 3 && o->unpack_data; k++) {
        const tn_operand t = tn_operand_of(f->out[k]);
        if (!t.numel) continue;
        const tnc_lu_triangle a = lu_triangle_of(in, t, k == 1 ? -1 : 1);
#define LU_PART(E) \
    TNC_LAUNCH_PLAIN((tnc_lu_part<E>), tnc_blocks(t.numel, TNC_THREADS), TNC_THREADS, s, a)
        TNC_MOVED(in.bytes, LU_PART)
#undef LU_PART
    }
    if (!o->unpack_pivots || !permutation.numel) return;
    const tnc_lu_triangle a = lu_triangle_of(in, permutation, 0);
    const tnc_lu_pivots p = lu_pivots_of(tn_operand_of(f->in[1]), in);
    int32_t *order = (int32_t *)f->scratch;
    TNC_LAUNCH_PLAIN((tnc_lu_order), tnc_blocks(p.batches, TNC_THREADS), TNC_THREADS, s, p, order,
                     a.m);
#define LU_PERMUTATION(E)                                                                 \
    TNC_LAUNCH_PLAIN((tnc_lu_permutation<E>), tnc_blocks(permutation.numel, TNC_THREADS), \
                     TNC_THREADS, s, a, order)
    TNC_MOVED(in.bytes, LU_PERMUTATION)
#undef LU_PERMUTATION
}

static const tn_device_row lu_table[] = {
    {"linalg_lu_factor_ex", false, NULL, lu_factor_prepare, lu_factor_run},
    {"linalg_solve_lu", false, NULL, solve_lu_prepare, solve_lu_run},
    {"linalg_inv_ex", false, NULL, inv_prepare, inv_run},
    {"linalg_lu_solve", false, lu_solve_look, lu_solve_prepare, lu_solve_run},
    {"lu_unpack", false, lu_unpack_look, lu_unpack_prepare, lu_unpack_run}};
TNC_FAMILY(lu, lu_table)
