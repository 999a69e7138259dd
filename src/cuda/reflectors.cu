/* reflectors.cu - reflections as blocks (reflectors.cuh): geqrf, linalg.householder_product,
 * ormqr, in the order of the CPU (ops/linalg/reflections.c). */
#include "families.cuh"
#include "reflectors.cuh"

TNC_PRIV bool tnc_reflectors_scratch(tn_frame *f, const tn_operand &t, int64_t batches, int64_t m,
                                     int64_t columns, int64_t wide) {
    const int64_t side = TNC_REFLECTIONS;
    int64_t all, more;
    if (wide < side) wide = side;
    if (__builtin_add_overflow(columns, side + 1, &all) || __builtin_mul_overflow(all, m, &all) ||
        __builtin_mul_overflow(wide, 2 * side, &more) || __builtin_add_overflow(all, more, &all) ||
        __builtin_add_overflow(all, side * side, &all) ||
        __builtin_mul_overflow(all, batches * (int64_t)t.bytes, &all))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !all || tn_device_scratch(f, all) != NULL;
}
TNC_PRIV tnc_reflectors tnc_reflectors_in(char **room, int dtype, int64_t m, int64_t n,
                                          int64_t batches) {
    const int64_t side = TNC_REFLECTIONS;
    tnc_reflectors r;
    if (n < side) n = side; /* w also holds V^H V */
    r.v = tnc_block_in(room, dtype, m, side, batches);
    r.t = tnc_block_in(room, dtype, side, side, batches);
    r.w = tnc_block_in(room, dtype, side, n, batches);
    r.u = tnc_block_in(room, dtype, side, n, batches);
    return r;
}

/* to = from */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_reflectors_copy(tnc_block to, tnc_block from) {
    const int64_t all = to.m * to.n;
    for (int64_t i = TNC_FIRST(); i < all * to.batches; i += TNC_STEP()) {
        const int64_t batch = i / all, r = (i - batch * all) % to.m, c = (i - batch * all) / to.m;
        tnc_block_at<T, parts>(to, batch).set(r, c, tnc_block_at<T, parts>(from, batch).get(r, c));
    }
}
/* T[:c, c] = -tau_c T[:c, :c] V[:, :c]^H v_c: a thread a row of T. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_reflectors_join(tnc_block t, tnc_block dots, tnc_block taus) {
    const int64_t k = t.n;
    for (int64_t i = TNC_FIRST(); i < k * t.batches; i += TNC_STEP()) {
        const int64_t batch = i / k, x = i - batch * k;
        const auto to = tnc_block_at<T, parts>(t, batch), d = tnc_block_at<T, parts>(dots, batch),
                   factors = tnc_block_at<T, parts>(taus, batch);
        double re[TNC_REFLECTIONS], im[TNC_REFLECTIONS]; /* the row so far */
        for (int64_t c = 0; c < k; c++) {
            const tnc_pair_of tau = factors.get(c, 0);
            double sum = 0, sum_im = 0;
            for (int64_t y = x; y < c; y++) {
                const tnc_pair_of v = d.get(y, c);
                sum += re[y] * v.re;
                if (parts == 1) continue;
                sum -= im[y] * v.im;
                sum_im += re[y] * v.im + im[y] * v.re;
            }
            const tnc_pair_of v = tnc_factor_mul(tau, tnc_pair_of{sum, sum_im});
            re[c] = x < c ? -v.re : x == c ? tau.re : 0;
            im[c] = x < c ? -v.im : x == c ? tau.im : 0;
            to.set(x, c, tnc_pair_of{re[c], im[c]});
        }
    }
}
/* Takes k reflections from columns [j, j + k) of a, of which the first begins in row i. */
static void reflectors_take(cudaStream_t s, tnc_reflectors *r, const tnc_block &a, int64_t i,
                            int64_t j, int64_t k, const tnc_block &taus) {
    const tnc_block from = tnc_block_part(a, i, j, a.m - i, k),
                    dots = tnc_block_part(r->w, 0, 0, k, k);
    const int64_t jobs = from.m * k * a.batches;
    r->v.m = from.m;
    r->v.n = k;
    r->t.m = r->t.n = k;
    TNC_FACTOR_LAUNCH(tnc_reflectors_copy, a.dtype,
                      (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, r->v, from);
    tnc_block_clear(s, r->v, TNC_KEEP_REFLECTIONS);
    tnc_block_product(s, dots, r->v, TNC_ADJOINT, r->v, TNC_AS_IS, 1, false);
    TNC_FACTOR_LAUNCH(tnc_reflectors_join, a.dtype,
                      (k * a.batches + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, r->t, dots,
                      tnc_block_part(taus, j, 0, k, 1));
}
/* x -= V op(T) V^H x; `adjoint`: the adjoint of the block. */
static void reflectors_apply(cudaStream_t s, const tnc_reflectors *r, const tnc_block &x,
                             bool adjoint) {
    const tnc_block w = tnc_block_part(r->w, 0, 0, r->v.n, x.n),
                    u = tnc_block_part(r->u, 0, 0, r->v.n, x.n);
    tnc_block_product(s, w, r->v, TNC_ADJOINT, x, TNC_AS_IS, 1, false);
    tnc_block_product(s, u, r->t, adjoint ? TNC_ADJOINT : TNC_AS_IS, w, TNC_AS_IS, 1, false);
    tnc_block_product(s, x, r->v, TNC_AS_IS, u, TNC_AS_IS, -1, true);
}

/* Of the n reflections the block that begins with number j. */
static int64_t reflections_in(int64_t n, int64_t j) {
    return n - j < TNC_REFLECTIONS ? n - j : (int64_t)TNC_REFLECTIONS;
}
TNC_PRIV void tnc_reflections_product(cudaStream_t s, tnc_reflectors *r, const tnc_block &a,
                                      int64_t n, const tnc_block &taus, const tnc_block &q) {
    tnc_block_clear(s, q, TNC_KEEP_UNIT);
    if (n < 1 || !a.batches) return;
    /* From the last block to the first: what lies left of it and above is still the unit matrix. */
    for (int64_t j = (n - 1) / TNC_REFLECTIONS * TNC_REFLECTIONS; j >= 0; j -= TNC_REFLECTIONS) {
        reflectors_take(s, r, a, j, j, reflections_in(n, j), taus);
        reflectors_apply(s, r, tnc_block_part(q, j, j, q.m - j, q.n > j ? q.n - j : 0), false);
    }
}
TNC_PRIV void tnc_block_qr(cudaStream_t s, tnc_reflectors *r, const tnc_block &a,
                           const tnc_block &taus) {
    const int64_t least = taus.m;
    if (!a.batches || !least) return;
    if (a.n <= TNC_COLUMNS_ALONE) {
        tnc_block_qr_columns(s, a, taus);
        return;
    }
    for (int64_t j = 0; j < least; j += TNC_REFLECTIONS) {
        const int64_t k = reflections_in(least, j);
        tnc_block_qr_columns(s, tnc_block_part(a, j, j, a.m - j, k),
                             tnc_block_part(taus, j, 0, k, 1));
        if (a.n - j - k < 1) continue;
        reflectors_take(s, r, a, j, j, k, taus);
        reflectors_apply(s, r, tnc_block_part(a, j, j + k, a.m - j, a.n - j - k), true);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool geqrf_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int64_t n = a.size[a.ndim - 1];
    return !a.numel || tnc_reflectors_scratch(f, a, factor_count(a), a.size[a.ndim - 2], n, n);
}
static void geqrf_run(tn_frame *f) {
    const tn_operand in = tn_operand_of(f->in[0]), tau = tn_operand_of(f->out[1]);
    const int64_t m = in.size[in.ndim - 2], n = in.size[in.ndim - 1], batches = factor_count(in);
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch, *factors = tau.at;
    if (!in.numel) return;
    const tnc_block a = tnc_block_in(&room, in.dtype, m, n, batches),
                    taus = tnc_block_in(&factors, in.dtype, m < n ? m : n, 1, batches);
    tnc_reflectors r = tnc_reflectors_in(&room, in.dtype, m, n, batches);
    tnc_block_load(s, a, in, in, TNC_AS_IS);
    tnc_block_qr(s, &r, a, taus);
    tnc_block_store(s, a, tn_operand_of(f->out[0]), TNC_AS_IS);
}

static bool householder_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int64_t n = a.size[a.ndim - 1];
    return !a.numel || tnc_reflectors_scratch(f, a, factor_count(a), a.size[a.ndim - 2], 2 * n, n);
}
static void householder_run(tn_frame *f) {
    const tn_operand in = tn_operand_of(f->in[0]), tau = tn_operand_of(f->in[1]);
    const int64_t m = in.size[in.ndim - 2], n = in.size[in.ndim - 1], k = tau.size[tau.ndim - 1],
                  batches = factor_count(in);
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    if (!in.numel) return;
    const tnc_block a = tnc_block_in(&room, in.dtype, m, n, batches),
                    q = tnc_block_in(&room, in.dtype, m, n, batches),
                    taus = tnc_block_in(&room, in.dtype, k, 1, batches);
    tnc_reflectors r = tnc_reflectors_in(&room, in.dtype, m, n, batches);
    tnc_block_load(s, a, in, in, TNC_AS_IS);
    tnc_block_load_vectors(s, taus, tau);
    tnc_reflections_product(s, &r, a, k, taus, q);
    tnc_block_store(s, q, tn_operand_of(f->out[0]), TNC_AS_IS);
}

static bool ormqr_prepare(tn_frame *f) {
    TN_ARGS(ormqr, o, f);
    const tn_operand a = tn_operand_of(f->in[0]), c = tn_operand_of(f->in[2]);
    const int64_t columns = c.size[c.ndim - (o->left ? 1 : 2)];
    return !c.numel || tnc_reflectors_scratch(f, a, factor_count(a), a.size[a.ndim - 2],
                                              a.size[a.ndim - 1] + columns, columns);
}
static void ormqr_run(tn_frame *f) {
    TN_ARGS(ormqr, o, f);
    const tn_operand in = tn_operand_of(f->in[0]), tau = tn_operand_of(f->in[1]),
                     c = tn_operand_of(f->in[2]);
    const int64_t m = in.size[in.ndim - 2], n = in.size[in.ndim - 1], k = tau.size[tau.ndim - 1],
                  columns = c.size[c.ndim - (o->left ? 1 : 2)], batches = factor_count(in),
                  blocks = (k + TNC_REFLECTIONS - 1) / TNC_REFLECTIONS;
    const int turned = o->left ? TNC_AS_IS : TNC_ADJOINT; /* c q is (q^H c^H)^H */
    const bool adjoint = o->transpose == o->left;
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    if (!c.numel) return;
    const tnc_block a = tnc_block_in(&room, in.dtype, m, n, batches),
                    x = tnc_block_in(&room, in.dtype, m, columns, batches),
                    taus = tnc_block_in(&room, in.dtype, k, 1, batches);
    tnc_reflectors r = tnc_reflectors_in(&room, in.dtype, m, columns, batches);
    tnc_block_load(s, a, in, in, TNC_AS_IS);
    tnc_block_load(s, x, c, c, turned);
    tnc_block_load_vectors(s, taus, tau);
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t j = (adjoint ? b : blocks - 1 - b) * TNC_REFLECTIONS;
        reflectors_take(s, &r, a, j, j, reflections_in(k, j), taus);
        reflectors_apply(s, &r, tnc_block_part(x, j, 0, x.m - j, x.n), adjoint);
    }
    tnc_block_store(s, x, tn_operand_of(f->out[0]), turned);
}

static const tn_device_row reflectors_table[] = {
    {"geqrf", false, NULL, geqrf_prepare, geqrf_run},
    {"linalg_householder_product", false, NULL, householder_prepare, householder_run},
    {"ormqr", false, NULL, ormqr_prepare, ormqr_run}};
TNC_FAMILY(reflectors, reflectors_table)
