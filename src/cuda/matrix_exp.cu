/* matrix_exp.cu - the exponential of matrices in the order of the CPU (ops/linalg/matrix_exp.c): in
 * f64, by Pade approximants of the degree that the norm of a matrix asks for, and squarings.
 *
 * Degrees and squarings differ within a batch: each step goes over all matrices and leaves out
 * those whose step it is not. prepare reads the norms, so that only steps are asked for that some
 * need. */
#include "blocks.cuh"
#include "families.cuh"
#include "memory.cuh"

#include <vector>

#include "../simd/matrix_exp.inl"

enum { EXP_A, EXP_U, EXP_V, EXP_W, EXP_POWERS, EXP_PLANES = 9 }; /* powers 0, 2, 4, 6, 8 */
enum { EXP_DEGREES = 5, EXP_STEPS = 64 }; /* f->count: squarings times this, a bit a degree */

/* Of each matrix: which approximant, -1 where it is not finite, and how many squarings. */
struct tnc_exp_plan {
    int32_t degree, squarings;
};
struct tnc_exp {
    tnc_factors f; /* a: the tensor's matrices, of f.n columns */
    double *sums;  /* of moduli, a column */
    tnc_exp_plan *plan;
    double reach[EXP_DEGREES];
};

/* --- norms ------------------------------------------------------------------------------------ */

template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_exp_sums(tnc_exp e) {
    for (int64_t i = TNC_FIRST(); i < e.f.n * e.f.batches; i += TNC_STEP()) {
        const auto a = tnc_matrix_of<T, parts>(e.f, e.f.a, i / e.f.n);
        double sum = 0;
        for (int64_t r = 0; r < e.f.n; r++) {
            const tnc_pair_of v = a.get(r, i % e.f.n);
            sum += sqrt(fma(v.re, v.re, v.im * v.im));
        }
        e.sums[i] = sum;
    }
}
static __global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_exp_choose(tnc_exp e) {
    for (int64_t i = TNC_FIRST(); i < e.f.batches; i += TNC_STEP()) {
        double norm = 0;
        int degree = 0, squarings = 0;
        for (int64_t c = 0; c < e.f.n && norm == norm; c++) {
            const double sum = e.sums[i * e.f.n + c];
            if (!(sum <= norm)) norm = sum;
        }
        while (degree < EXP_DEGREES - 1 && norm > e.reach[degree]) degree++;
        if (norm - norm != 0)
            degree = -1;
        else if (norm > e.reach[EXP_DEGREES - 1])
            frexp(norm / e.reach[EXP_DEGREES - 1], &squarings);
        e.plan[i].degree = degree;
        e.plan[i].squarings = squarings;
    }
}
static void exp_plan(cudaStream_t s, tnc_exp *e, const tn_operand &a) {
    memset(&e->f, 0, sizeof e->f);
    factor_batches(&e->f, a);
    factor_side(&e->f.a, a, a, false);
    e->f.n = a.size[a.ndim - 1];
    for (int k = 0; k < EXP_DEGREES; k++) e->reach[k] = mexp_reach[k];
    const int64_t jobs = e->f.n * e->f.batches;
    TNC_FACTOR_LAUNCH(tnc_exp_sums, a.dtype, (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS,
                      s, *e);
    TNC_LAUNCH_PLAIN((tnc_exp_choose), tnc_blocks(e->f.batches, TNC_FACTOR_THREADS),
                     TNC_FACTOR_THREADS, s, *e);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* From or to the tensor, converted; not finite ones become NaN. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_exp_move(tnc_exp e, tnc_block b, bool store) {
    const int64_t n = e.f.n, all = n * n;
    for (int64_t i = TNC_FIRST(); i < all * e.f.batches; i += TNC_STEP()) {
        const int64_t batch = i / all, r = (i - batch * all) % n, c = (i - batch * all) / n;
        const auto t = tnc_matrix_of<T, parts>(e.f, e.f.a, batch);
        const auto p = tnc_block_at<double, parts>(b, batch);
        const tnc_exp_plan plan = e.plan[batch];
        if (store) {
            t.set(r, c, plan.degree < 0 ? tnc_pair_of{NAN, NAN} : p.get(r, c));
        } else {
            const tnc_pair_of v = t.get(r, c);
            p.set(r, c, tnc_pair_of{ldexp(v.re, -plan.squarings), ldexp(v.im, -plan.squarings)});
        }
    }
}
/* to = [to +] weight from, of real numbers: n a matrix. */
static __global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_exp_add(tnc_block to, tnc_block from, int64_t n, double weight, bool add) {
    for (int64_t i = TNC_FIRST(); i < n * to.batches; i += TNC_STEP()) {
        const int64_t batch = i / n, at = i - batch * n;
        if (to.stopped && to.stopped[batch]) continue;
        double *x = (double *)(void *)(to.at + batch * to.each) + at;
        const double y = ((const double *)(const void *)(from.at + batch * from.each))[at];
        *x = add ? fma(weight, y, *x) : weight * y;
    }
}
static void exp_add(cudaStream_t s, const tnc_block &to, const tnc_block &from, double weight,
                    bool add) {
    const int64_t n = to.each / 8;
    TNC_LAUNCH_PLAIN((tnc_exp_add), tnc_blocks(n * to.batches, TNC_FACTOR_THREADS),
                     TNC_FACTOR_THREADS, s, to, from, n, weight, add);
}
static void exp_times(cudaStream_t s, const tnc_block &to, const tnc_block &a, const tnc_block &b) {
    tnc_block_product(s, to, a, TNC_AS_IS, b, TNC_AS_IS, 1, false);
}
/* Which matrices are left out: those of another degree, or without so many squarings. */
static __global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_exp_stop(tnc_exp e, int32_t *stopped, int degree, int squaring) {
    for (int64_t i = TNC_FIRST(); i < e.f.batches; i += TNC_STEP())
        stopped[i] = degree >= 0 ? e.plan[i].degree != degree
                                 : e.plan[i].degree < 0 || e.plan[i].squarings <= squaring;
}
static void exp_stop(cudaStream_t s, const tnc_exp &e, int32_t *stopped, int degree, int squaring) {
    TNC_LAUNCH_PLAIN((tnc_exp_stop), tnc_blocks(e.f.batches, TNC_FACTOR_THREADS),
                     TNC_FACTOR_THREADS, s, e, stopped, degree, squaring);
}
/* Odd terms in U, even ones in V. */
static void exp_parts(cudaStream_t s, const tnc_block *p, int degree) {
    const double *b = mexp_weights[degree];
    const int top = degree < 4 ? degree + 1 : 3; /* powers 2, .., 2 top are there */
    exp_times(s, p[EXP_POWERS + 1], p[EXP_A], p[EXP_A]);
    for (int k = 2; k <= top; k++)
        exp_times(s, p[EXP_POWERS + k], p[EXP_POWERS + k - 1], p[EXP_POWERS + 1]);
    for (int odd = 0; odd <= 1; odd++) {
        const tnc_block &to = odd ? p[EXP_W] : p[EXP_V];
        if (degree == 4) { /* A6 times what is above 7, too */
            for (int k = 1; k <= 3; k++)
                exp_add(s, p[EXP_U], p[EXP_POWERS + k], b[6 + 2 * k + odd], k > 1);
            exp_times(s, to, p[EXP_POWERS + 3], p[EXP_U]);
        }
        for (int k = 0; k <= top; k++)
            exp_add(s, to, p[EXP_POWERS + k], b[2 * k + odd], degree == 4 || k > 0);
    }
    exp_times(s, p[EXP_U], p[EXP_A], p[EXP_W]);
}

/* --- the row ---------------------------------------------------------------------------------- */

static bool exp_look_at(tn_frame *f, tnc_exp *e, const tn_operand &a, int64_t batches) {
    const cudaStream_t s = tnc_stream(f);
    std::vector<tnc_exp_plan> plan;
    int64_t degrees = 0, most = 0;
    try {
        plan.resize((size_t)batches);
    } catch (const std::bad_alloc &) {
        return tn_fail(f, TN_MEMORY, "no memory of the host for %lld numbers", (long long)batches);
    }
    exp_plan(s, e, a);
    cudaError_t error = cudaMemcpyAsync(plan.data(), e->plan, plan.size() * sizeof plan[0],
                                        cudaMemcpyDeviceToHost, s);
    if (!error) error = cudaStreamSynchronize(s);
    if (error) return tn_fail(f, TN_INTERNAL, "%s", cudaGetErrorString(error));
    for (const tnc_exp_plan &one : plan) {
        if (one.degree >= 0) degrees |= (int64_t)1 << one.degree;
        if (one.squarings > most) most = one.squarings;
    }
    f->count = most * EXP_STEPS + degrees;
    return true;
}
/* Waits for the norms. */
static bool exp_look(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int32_t device = tn_frame_device(f);
    const int64_t batches = factor_count(a);
    tnc_exp e;
    e.sums = (double *)tnc_alloc_for(f, (a.size[a.ndim - 1] + 1) * batches * 8);
    if (!e.sums) return false;
    e.plan = (tnc_exp_plan *)(void *)(e.sums + a.size[a.ndim - 1] * batches);
    const bool ok = exp_look_at(f, &e, a, batches);
    tnc_free(device, e.sums);
    return ok;
}
/* The matrices of a batch, sums, plans; pivots, zeros found and stops. Returns their bytes, with
 * room NULL; -1: too many. */
static int64_t exp_room(const tn_operand &a, int64_t batches) {
    const int64_t n = a.size[a.ndim - 1], wide = a.dtype == TN_C64 || a.dtype == TN_C128 ? 16 : 8;
    int64_t all;
    if (__builtin_mul_overflow(n, n, &all) ||
        __builtin_mul_overflow(all, EXP_PLANES * wide, &all) ||
        __builtin_add_overflow(all, n * 12 + 16, &all) ||
        __builtin_mul_overflow(all, batches, &all))
        return -1;
    return all;
}
static bool matrix_exp_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int64_t bytes = a.numel ? exp_room(a, factor_count(a)) : 0;
    if (bytes < 0) return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || (exp_look(f) && tn_device_scratch(f, bytes) != NULL);
}
static void exp_go(tn_frame *f, const tnc_exp &e, tnc_block *p, const tnc_pivots &pivots,
                   int32_t *info, int32_t *stopped) {
    const cudaStream_t s = tnc_stream(f);
    tnc_block_clear(s, p[EXP_POWERS], TNC_KEEP_UNIT);
    for (int k = 0; k < EXP_PLANES; k++) p[k].stopped = stopped;
    for (int degree = 0; degree < EXP_DEGREES; degree++) {
        if (!(f->count >> degree & 1)) continue;
        exp_stop(s, e, stopped, degree, 0);
        exp_parts(s, p, degree);
    }
    for (int k = 0; k < EXP_PLANES; k++) p[k].stopped = NULL;
    /* (V - U) X = V + U */
    exp_add(s, p[EXP_A], p[EXP_V], 1, false);
    exp_add(s, p[EXP_A], p[EXP_U], 1, true);
    exp_add(s, p[EXP_V], p[EXP_U], -1, true);
    cudaMemsetAsync(info, 0, (size_t)e.f.batches * sizeof *info, s);
    tnc_block_lu(s, p[EXP_V], pivots, info);
    tnc_block_lu_solve(s, p[EXP_V], pivots, p[EXP_A], false);
    p[EXP_A].stopped = p[EXP_W].stopped = stopped;
    for (int64_t k = 0; k < f->count / EXP_STEPS; k++) {
        exp_stop(s, e, stopped, -1, (int)k);
        exp_times(s, p[EXP_W], p[EXP_A], p[EXP_A]);
        exp_add(s, p[EXP_A], p[EXP_W], 1, false);
    }
}
#define EXP_MOVE(t, store)                                                                       \
    TNC_FACTOR_LAUNCH(tnc_exp_move, (t).dtype,                                                   \
                      ((t).numel + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, e, p[EXP_A], \
                      store)
static void matrix_exp_run(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const int64_t n = a.size[a.ndim - 1], batches = factor_count(a);
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    tnc_block p[EXP_PLANES];
    tnc_exp e;
    if (!a.numel) return;
    for (int k = 0; k < EXP_PLANES; k++)
        p[k] = tnc_block_in(&room, a.dtype == TN_C64 || a.dtype == TN_C128 ? TN_C128 : TN_F64, n, n,
                            batches);
    e.sums = (double *)(void *)room;
    e.plan = (tnc_exp_plan *)(void *)(e.sums + n * batches);
    const tnc_pivots pivots = {(int32_t *)(void *)(e.plan + batches), n};
    int32_t *info = pivots.at + n * batches, *stopped = info + batches;
    exp_plan(s, &e, a);
    EXP_MOVE(a, false);
    exp_go(f, e, p, pivots, info, stopped);
    factor_side(&e.f.a, out, out, false);
    EXP_MOVE(out, true);
}
#undef EXP_MOVE

static const tn_device_row matrix_exp_table[] = {
    {"linalg_matrix_exp", false, NULL, matrix_exp_prepare, matrix_exp_run}};
TNC_FAMILY(matrix_exp, matrix_exp_table)
