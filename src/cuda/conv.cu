/* conv.cu - conv2d, conv3d and the gradients of their inputs and weights in the order of the CPU
 * (kernels/conv.h): chains of 384 terms in the order of k, or of a block of pixels.
 *
 * tiles   an implicit product of matrices: a block of 256 threads has 16, 32 or 64 m and 128 p (64
 *         of f64), 16 k at a time in shared memory, 4 x 8 chains a thread. Offsets of k and p are
 *         tables in shared memory, for all rows
 * direct  few m, and all of integers and complex numbers: a thread an element
 * lanes   the weight's gradient with one or two m: 16 threads a block of pixels
 *
 * Where the tiles are too few for the processors, each block of chains is a job; their sums go to
 * scratch memory and a last kernel adds them in order. */
#include "conv.cuh"
#include "cudnn.cuh"
#include "families.cuh"

#ifdef __CUDACC__
#define CONV_UNROLL _Pragma("unroll")
#else
#define CONV_UNROLL
#endif

/* --- tiles ------------------------------------------------------------------------------------ */

enum { TNC_CONV_K = 16 }; /* k of a step */

/* Thread (y, x) of 16 x 16 has rows (g 16 + y) G to + G and columns (h 16 + x) V to + V. */
template <class T, int MR>
struct tnc_conv_tile {
    enum {
        V = 16 / sizeof(T),
        G = MR < V ? MR : V,
        PR = 32 / sizeof(T), /* p of a thread */
        TM = 16 * MR,
        TP = 16 * PR,
        A = TM / G + 1, /* packs of a row, and one against bank conflicts */
        B = TP / V + 1
    };
    typedef tnc_pack<T, G> a_pack;
    typedef tnc_pack<T, V> b_pack;
    T acc[MR][PR], total[MR][PR];
    T next_a[MR], next_b[PR]; /* of the next step, on the way to shared memory */
};
/* Where the tile's job lies, and the tables and steps in shared memory. */
template <class T, int MR>
struct tnc_conv_room {
    const char *a, *b;
    int64_t a_at, b_at, m0, p0, p;
    const tnc_conv_place *ks, *ps;
    typename tnc_conv_tile<T, MR>::a_pack *as;
    typename tnc_conv_tile<T, MR>::b_pack *bs;
};

/* k and m, or p, of element i of a thread's part of a step. Neighbours have neighbouring k, if it
 * is `deep`, or p: pixels lie side by side, and are p, or k of the weight's gradient. */
struct tnc_conv_spot {
    int k, other;
};
TNC_FN tnc_conv_spot tnc_conv_spot_of(bool deep, int wide, int i) {
    const unsigned e = threadIdx.x + (unsigned)i * 256, n = deep ? TNC_CONV_K : wide;
    const int within = (int)(e % n), over = (int)(e / n);
    const tnc_conv_spot s = {deep ? within : over, deep ? over : within};
    return s;
}
/* Terms k0 to n of this block into registers; what lies beyond m, p or n is 0. */
template <class T, class E, int MR>
TNC_FN void tnc_conv_load(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int k0, int n,
                          tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const tnc_conv_spot s = tnc_conv_spot_of(true, X::TM, i);
        const int64_t m = r.m0 + s.other;
        const bool inside = (k0 + s.k < n) & (m < v.m);
        t->next_a[i] =
            inside ? tnc_conv_of<T, E>::get(v.a, r.a_at + m * v.a_m + r.ks[k0 + s.k].other, v.dtype)
                   : (T)0;
    }
    CONV_UNROLL
    for (int i = 0; i < X::PR; i++) {
        const tnc_conv_spot s = tnc_conv_spot_of(v.cut.images > 0, X::TP, i);
        const tnc_conv_place &q = r.ks[k0 + s.k], &w = r.ps[s.other];
        const bool inside =
            (k0 + s.k < n) & (r.p0 + s.other < r.p) & tnc_conv_inside(v, q.at, w.at);
        t->next_b[i] = inside ? tnc_conv_of<T, E>::get(v.b, r.b_at + q.b + w.b, v.dtype) : (T)0;
    }
}
template <class T, int MR>
TNC_FN void tnc_conv_keep(const tnc_conv &v, const tnc_conv_room<T, MR> &r,
                          const tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const tnc_conv_spot s = tnc_conv_spot_of(true, X::TM, i);
        r.as[s.k * X::A + s.other / X::G].e[s.other % X::G] = t->next_a[i];
    }
    CONV_UNROLL
    for (int i = 0; i < X::PR; i++) {
        const tnc_conv_spot s = tnc_conv_spot_of(v.cut.images > 0, X::TP, i);
        r.bs[s.k * X::B + s.other / X::V].e[s.other % X::V] = t->next_b[i];
    }
}

/* One k of the step. */
template <class T, int MR>
TNC_FN void tnc_conv_term(const tnc_conv_room<T, MR> &r, int k, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    const int y = (int)threadIdx.x / 16, x = (int)threadIdx.x % 16;
    typename X::a_pack a[MR / X::G];
    typename X::b_pack b[X::PR / X::V];
    CONV_UNROLL
    for (int g = 0; g < MR / X::G; g++) a[g] = r.as[k * X::A + g * 16 + y];
    CONV_UNROLL
    for (int g = 0; g < X::PR / X::V; g++) b[g] = r.bs[k * X::B + g * 16 + x];
    CONV_UNROLL
    for (int i = 0; i < MR; i++) CONV_UNROLL
    for (int j = 0; j < X::PR; j++)
        t->acc[i][j] = tnc_fused(a[i / X::G].e[i % X::G], b[j / X::V].e[j % X::V], t->acc[i][j]);
}

/* The chains of one block of n terms, whose table is r.ks. */
template <class T, class E, int MR>
TNC_FN void tnc_conv_chains(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int n,
                            tnc_conv_tile<T, MR> *t) {
    tnc_conv_load<T, E, MR>(v, r, 0, n, t);
    for (int k0 = 0; k0 < n; k0 += TNC_CONV_K) {
        __syncthreads(); /* the step before is done */
        tnc_conv_keep(v, r, t);
        __syncthreads();
        if (k0 + TNC_CONV_K < n) tnc_conv_load<T, E, MR>(v, r, k0 + TNC_CONV_K, n, t);
        if (n - k0 >= TNC_CONV_K) {
            CONV_UNROLL
            for (int k = 0; k < TNC_CONV_K; k++) tnc_conv_term(r, k, t);
        } else {
            for (int k = 0; k < n - k0; k++) tnc_conv_term(r, k, t);
        }
    }
}

/* m and p of a thread's element (i, j), from the tile's first on. */
template <class T, int MR>
TNC_FN int tnc_conv_m(int i) {
    typedef tnc_conv_tile<T, MR> X;
    return (i / X::G * 16 + (int)threadIdx.x / 16) * X::G + i % X::G;
}
template <class T, int MR>
TNC_FN int tnc_conv_p(int j) {
    typedef tnc_conv_tile<T, MR> X;
    return (j / X::V * 16 + (int)threadIdx.x % 16) * X::V + j % X::V;
}

/* Chains begin at the bias, or at 0. */
template <class T, class E, int MR>
TNC_FN void tnc_conv_begin(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int64_t group,
                           bool first, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int64_t m = r.m0 + tnc_conv_m<T, MR>(i);
        const T start =
            first && v.bias && m < v.m
                ? tnc_conv_of<T, E>::get(v.bias, (group * v.m + m) * v.bias_step, v.dtype)
                : (T)0;
        CONV_UNROLL
        for (int j = 0; j < X::PR; j++) t->acc[i][j] = start;
    }
}
/* The sum of the blocks so far. */
template <class T, int MR>
TNC_FN void tnc_conv_add(bool first, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) CONV_UNROLL
    for (int j = 0; j < X::PR; j++)
        t->total[i][j] = first ? t->acc[i][j] : t->total[i][j] + t->acc[i][j];
}
template <class T, int MR>
TNC_FN void tnc_conv_write(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int64_t at,
                           int64_t part, const tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int64_t m = r.m0 + tnc_conv_m<T, MR>(i);
        CONV_UNROLL
        for (int j = 0; j < X::PR; j++) {
            const int p = tnc_conv_p<T, MR>(j);
            if (m < v.m && r.p0 + p < r.p)
                tnc_conv_put(v, part, at + m * v.c_m + r.ps[p].other, t->total[i][j]);
        }
    }
}

/* Which tile, block of chains, group and phase a job is; neighbours share their p. */
struct tnc_conv_job {
    int64_t m, p, part, group, phase;
};
TNC_FN tnc_conv_job tnc_conv_job_of(const tnc_conv &v, int64_t i) {
    tnc_conv_job j;
    j.m = i % v.m_tiles;
    i /= v.m_tiles;
    j.p = i % v.p_tiles;
    i /= v.p_tiles;
    j.part = i % v.split;
    i /= v.split;
    j.group = i % v.groups;
    j.phase = i / v.groups;
    return j;
}

template <class T, class E, int MR>
__global__ void __launch_bounds__(256, 2) tnc_conv_tiles(tnc_conv v) {
    typedef tnc_conv_tile<T, MR> X;
    typedef typename X::a_pack a_pack;
    typedef typename X::b_pack b_pack;
    TNC_SHARED(tnc_conv_phase, phase, 1);
    TNC_SHARED(tnc_conv_place, ks, TNC_CONV_BLOCK);
    TNC_SHARED(tnc_conv_place, ps, X::TP);
    TNC_SHARED(a_pack, as, TNC_CONV_K * X::A);
    TNC_SHARED(b_pack, bs, TNC_CONV_K * X::B);
    const int tid = (int)threadIdx.x;
    for (int64_t job = blockIdx.x; job < v.jobs; job += gridDim.x) {
        const tnc_conv_job j = tnc_conv_job_of(v, job);
        tnc_conv_room<T, MR> r;
        X t;
        __syncthreads(); /* the job before is done */
        if (tid == 0) tnc_conv_phase_of(v, j.phase, phase);
        __syncthreads();
        r.m0 = j.m * X::TM, r.p0 = j.p * X::TP, r.p = phase->p;
        r.a_at = phase->a + j.group * v.a_group, r.b_at = j.group * v.b_group;
        r.ks = ks, r.ps = ps, r.as = as, r.bs = bs;
        const int64_t all = tnc_conv_blocks(v, phase->k), first = v.first + j.part,
                      end = v.split > 1 ? first + 1 : all;
        if (r.p0 >= r.p || (v.split > 1 && first >= all)) continue;
        if (tid < X::TP) ps[tid] = tnc_conv_place_of(v, phase->of_p, r.p0 + tid);
        tnc_conv_begin<T, E, MR>(v, r, j.group, false, &t);
        tnc_conv_add(true, &t);
        for (int64_t b = first; b < end; b++) {
            int64_t from, to;
            tnc_conv_block_of(v, phase->k, b, &from, &to);
            /* the block before is done with the table: each of its loads is before a barrier */
            for (int i = tid; i < to - from; i += 256)
                ks[i] = tnc_conv_place_of(v, phase->of_k, from + i);
            __syncthreads();
            tnc_conv_begin<T, E, MR>(v, r, j.group, b == 0, &t);
            tnc_conv_chains<T, E, MR>(v, r, (int)(to - from), &t);
            tnc_conv_add(b == first, &t);
        }
        __syncthreads(); /* the table of p, where there was no block */
        tnc_conv_write(v, r, phase->c + j.group * v.m * v.c_m, j.part, &t);
    }
}

/* --- direct ----------------------------------------------------------------------------------- */

/* What a thread does with a pair of elements: `blocks`: chains of 384 terms, elements of a plane's
 * surroundings are zeros; else one chain, which leaves them out. */
template <class T, class E>
struct tnc_conv_real {
    typedef T part;
    enum { blocks = 1 };
    TNC_FN T get(const char *at, int64_t i, int dtype) {
        return tnc_conv_of<T, E>::get(at, i, dtype);
    }
    TNC_FN T term(const tnc_conv &, T a, T b, T sum) { return tnc_fused(a, b, sum); }
    TNC_FN T plus(T a, T b) { return a + b; }
    TNC_FN T zero() { return 0; }
    TNC_FN void put(const tnc_conv &v, int64_t part, int64_t i, T x) {
        tnc_conv_put(v, part, i, x);
    }
};
struct tnc_conv_integer { /* wrapping */
    typedef uint64_t part;
    enum { blocks = 0 };
    TNC_FN uint64_t get(const char *at, int64_t i, int dtype) {
        const int64_t bytes = dtype == TN_I64 ? 8 : dtype == TN_I32 ? 4 : dtype == TN_I16 ? 2 : 1;
        return (uint64_t)tnc_load_real<int64_t>(at + i * bytes, dtype);
    }
    TNC_FN uint64_t term(const tnc_conv &, uint64_t a, uint64_t b, uint64_t sum) {
        return sum + a * b;
    }
    TNC_FN uint64_t plus(uint64_t a, uint64_t b) { return a + b; }
    TNC_FN uint64_t zero() { return 0; }
    TNC_FN void put(const tnc_conv &v, int64_t, int64_t i, uint64_t x) {
        const int64_t bytes = v.dtype == TN_I64   ? 8
                              : v.dtype == TN_I32 ? 4
                              : v.dtype == TN_I16 ? 2
                                                  : 1;
        tnc_store_real(v.c + i * bytes, v.dtype, (int64_t)x);
    }
};
struct tnc_conv_complex { /* in double */
    typedef tnc_c128 part;
    enum { blocks = 0 };
    TNC_FN tnc_c128 get(const char *at, int64_t i, int dtype) {
        tnc_c128 z;
        if (dtype == TN_C64) {
            z.re = ((const float *)at)[2 * i];
            z.im = ((const float *)at)[2 * i + 1];
        } else {
            z.re = ((const double *)at)[2 * i];
            z.im = ((const double *)at)[2 * i + 1];
        }
        return z;
    }
    TNC_FN tnc_c128 term(const tnc_conv &v, tnc_c128 a, tnc_c128 b, tnc_c128 sum) {
        const tnc_c128 x = v.swap ? b : a, y = v.swap ? a : b;
        const double im = v.conj ? -y.im : y.im;
        sum.re = fma(-x.im, im, fma(x.re, y.re, sum.re));
        sum.im = fma(x.im, y.re, fma(x.re, im, sum.im));
        return sum;
    }
    TNC_FN tnc_c128 plus(tnc_c128 a, tnc_c128) { return a; } /* there is one block */
    TNC_FN tnc_c128 zero() {
        tnc_c128 z;
        z.re = z.im = 0;
        return z;
    }
    TNC_FN void put(const tnc_conv &v, int64_t, int64_t i, tnc_c128 z) {
        if (v.dtype == TN_C64) {
            ((float *)v.c)[2 * i] = (float)z.re;
            ((float *)v.c)[2 * i + 1] = (float)z.im;
        } else {
            ((double *)v.c)[2 * i] = z.re;
            ((double *)v.c)[2 * i + 1] = z.im;
        }
    }
};

/* Terms [k, end) of element (m, p), whose a begins at `a`, added to `sum`. */
template <class R>
TNC_FN typename R::part tnc_conv_chain(const tnc_conv &v, const tnc_conv_digits &d, int64_t a,
                                       int64_t b, const tnc_conv_place &p, int64_t k, int64_t end,
                                       typename R::part sum) {
    int64_t x = k % d.size[2], y = k / d.size[2] % d.size[1], outer = k / d.size[2] / d.size[1],
            z = outer % d.size[0];
    int32_t plane = tnc_conv_plane(d, z);
    outer /= d.size[0];
    for (; k < end; k++) {
        const int32_t at[3] = {plane, d.at[1] + (int32_t)y * d.by[1],
                               d.at[2] + (int32_t)x * d.by[2]};
        const bool inside = tnc_conv_inside(v, at, p.at);
        if (inside || R::blocks) {
            const typename R::part w = R::get(v.a,
                                              a + outer * d.step[0] + z * d.step[1] +
                                                  y * d.step[2] + x * d.step[3],
                                              v.dtype),
                                   e = inside ? R::get(v.b,
                                                       b + outer * d.outer + tnc_conv_offset(v, at),
                                                       v.dtype)
                                              : R::zero();
            sum = R::term(v, w, e, sum);
        }
        if (++x < d.size[2]) continue;
        x = 0;
        if (++y < d.size[1]) continue;
        y = 0;
        if (++z == d.size[0]) {
            z = 0;
            outer++;
        }
        plane = tnc_conv_plane(d, z);
    }
    return sum;
}

/* m_tiles counts m, p_tiles 256 p each. */
template <class R>
__global__ void __launch_bounds__(256) tnc_conv_direct(tnc_conv v) {
    typedef typename R::part part;
    TNC_SHARED(tnc_conv_phase, phase, 1);
    for (int64_t job = blockIdx.x; job < v.jobs; job += gridDim.x) {
        const tnc_conv_job j = tnc_conv_job_of(v, job);
        __syncthreads();
        if (threadIdx.x == 0) tnc_conv_phase_of(v, j.phase, phase);
        __syncthreads();
        const int64_t p = j.p * 256 + threadIdx.x, channel = j.group * v.m + j.m, k = phase->k,
                      blocks = R::blocks ? tnc_conv_blocks(v, k) : k > 0, first = v.first + j.part,
                      end = v.split > 1 ? first + 1 : blocks;
        if (p >= phase->p || first >= end || first >= blocks) {
            if (p < phase->p && v.split == 1) /* a phase without taps */
                R::put(v, 0,
                       phase->c + channel * v.c_m + tnc_conv_place_of(v, phase->of_p, p).other,
                       R::zero());
            continue;
        }
        const tnc_conv_place at = tnc_conv_place_of(v, phase->of_p, p);
        const int64_t a = phase->a + j.group * v.a_group + j.m * v.a_m,
                      b = j.group * v.b_group + at.b;
        part total = R::zero();
        for (int64_t i = first; i < end; i++) {
            int64_t from = 0, to = k;
            part sum = R::zero();
            if (R::blocks) tnc_conv_block_of(v, k, i, &from, &to);
            if (i == 0 && v.bias) sum = R::get(v.bias, channel * v.bias_step, v.dtype);
            sum = tnc_conv_chain<R>(v, phase->of_k, a, b, at, from, to, sum);
            total = i == first ? sum : R::plus(total, sum);
        }
        R::put(v, j.part, phase->c + channel * v.c_m + at.other, total);
    }
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* Lane `lane` of a block of pixels [from, to) of a weight at a, b and place p. */
template <class T, class E>
TNC_FN T tnc_conv_lane(const tnc_conv &v, int64_t a, int64_t b, const tnc_conv_place &p, int lane,
                       int64_t from, int64_t to) {
    const tnc_conv_digits &d = v.phase.of_k;
    T sum = 0;
    while (from < to) { /* a line, or a piece of one */
        const int64_t left = d.size[2] - from % d.size[2], rest = to - from,
                      n = left < rest ? left : rest;
        const tnc_conv_place q = tnc_conv_place_of(v, d, from);
        for (int64_t i = lane; i < n; i += 16) {
            const int32_t right = (int32_t)i * d.by[2], at[3] = {q.at[0], q.at[1], q.at[2] + right};
            const T g = tnc_conv_of<T, E>::get(v.a, a + q.other + i * d.step[3], v.dtype);
            T x = 0;
            if (tnc_conv_inside(v, at, p.at))
                x = tnc_conv_of<T, E>::get(v.b, b + q.b + right * v.step[2], v.dtype);
            sum = tnc_fused(x, g, sum);
        }
        from += n;
    }
    return sum;
}
template <class T, class E>
__global__ void __launch_bounds__(256) tnc_conv_lanes(tnc_conv v) {
    const int64_t teams = (int64_t)gridDim.x * blockDim.x / 16;
    const int lane = (int)(threadIdx.x % 16);
    /* All teams of a warp go round together, for lanes meet in shuffles. */
    for (int64_t begin = 0; begin < v.jobs; begin += teams) {
        const int64_t job = begin + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 16;
        const bool mine = job < v.jobs;
        const tnc_conv_job j = tnc_conv_job_of(v, mine ? job : 0);
        const tnc_conv_place p = tnc_conv_place_of(v, v.phase.of_p, j.p);
        const int64_t first = v.first + j.part, count = v.split > 1 ? 1 : v.blocks,
                      a = j.group * v.a_group + j.m * v.a_m, b = j.group * v.b_group + p.b;
        T total = 0;
        for (int64_t i = 0; i < count; i++) {
            int64_t from = 0, to = 0;
            if (mine && first + i < v.blocks)
                tnc_conv_block_of(v, v.phase.k, first + i, &from, &to);
            T sum = tnc_conv_lane<T, E>(v, a, b, p, lane, from, to);
            for (int h = 8; h; h /= 2) sum += __shfl_down_sync(0xffffffffu, sum, h);
            total = i ? total + sum : sum;
        }
        if (mine && !lane && (v.split == 1 || first < v.blocks))
            tnc_conv_put(v, j.part, (j.group * v.m + j.m) * v.c_m + p.other, total);
    }
}

/* --- sums of blocks --------------------------------------------------------------------------- */

/* sum (i) = sum (i) + part 0 (i) + part 1 (i) ...; `last`: rounded to the result. */
template <class T>
__global__ void __launch_bounds__(256)
    tnc_conv_sums(const T *parts, T *sums, char *out, int dtype, int64_t elements, int64_t count,
                  bool first, bool last) {
    for (int64_t i = TNC_FIRST(); i < elements; i += TNC_STEP()) {
        T sum = first ? parts[i] : sums[i];
        for (int64_t s = first; s < count; s++) sum = sum + parts[s * elements + i];
        if (last)
            tnc_conv_store(out, i, dtype, sum);
        else
            sums[i] = sum;
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

/* (N, C, H, W), (N, C, D, H, W) or the same without N, steps in elements. */
typedef struct conv_images {
    const char *at;
    int64_t n, c, size[3], image, channel, step[3];
} conv_images;
static conv_images conv_images_of(const tn_tensor *t, int dims) {
    const tn_operand o = tn_operand_of(t);
    const int one = o.ndim == dims + 1 ? 0 : 1;
    conv_images p = {o.at,      one ? o.size[0] : 1,   o.size[one],
                     {1, 1, 1}, one ? o.stride[0] : 0, o.stride[one],
                     {0, 0, 0}};
    for (int k = 1; k <= dims; k++) {
        p.size[3 - k] = o.size[o.ndim - k];
        p.step[3 - k] = o.stride[o.ndim - k];
    }
    return p;
}
static int64_t conv_pixels(const conv_images &x) { return x.size[0] * x.size[1] * x.size[2]; }
/* Options of images as those of volumes. */
static tnc_windows conv_windows(const tnc_windows &o) {
    const int less = 3 - o.dims;
    tnc_windows w = o;
    for (int k = 0; k < 3; k++) {
        w.stride[k] = k < less ? 1 : o.stride[k - less];
        w.pad[k] = k < less ? 0 : o.pad[k - less];
        w.dilation[k] = k < less ? 1 : o.dilation[k - less];
    }
    return w;
}
/* Digits of which the last three are numbers of x's elements, and step as these do. */
static void conv_digits(tnc_conv_digits *d, const conv_images &x, int64_t step, int64_t b_step) {
    d->outer = b_step;
    d->step[0] = step;
    d->every = 1;
    for (int k = 0; k < 3; k++) {
        d->size[k] = x.size[k];
        d->step[k + 1] = x.step[k];
    }
}
/* Digits that are pixels of windows, or taps within one. */
static void conv_of_pixels(tnc_conv_digits *d, const tnc_windows &o) {
    for (int k = 0; k < 3; k++) {
        d->at[k] = (int32_t)-o.pad[k];
        d->by[k] = (int32_t)o.stride[k];
    }
}
static void conv_of_taps(tnc_conv_digits *d, const tnc_windows &o) {
    for (int k = 0; k < 3; k++) d->by[k] = (int32_t)o.dilation[k];
}
static int64_t conv_common(int64_t a, int64_t b) { /* the greatest common divisor */
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}
static void conv_axis(tnc_conv_axis *x, const conv_images &to, const conv_images &w,
                      const tnc_windows &o, int k) {
    x->n = to.size[k];
    x->taps = w.size[k];
    x->stride = o.stride[k];
    x->pad = o.pad[k];
    x->dilation = o.dilation[k];
    x->all = k == 0;
    x->every = x->all ? 1 : x->stride / conv_common(x->stride, x->dilation);
    x->phases = x->stride < x->n ? x->stride : x->n;
    x->a = w.step[k];
    x->c = to.step[k];
}

/* b: what is read through windows. */
static void conv_source(tnc_conv *v, const conv_images &b, int64_t channels) {
    v->b = b.at;
    v->b_group = channels * b.channel;
    for (int k = 0; k < 3; k++) {
        v->step[k] = b.step[k];
        v->size[k] = (int32_t)b.size[k];
    }
}
static void conv_plan_output(tnc_conv *v, const conv_images &x, const conv_images &w,
                             const conv_images &y, const tnc_windows &o) {
    tnc_conv_phase *p = &v->phase;
    v->m = w.n / o.groups;
    v->a = w.at;
    v->a_m = w.image;
    v->a_group = v->m * w.image;
    conv_source(v, x, w.c);
    v->c_m = y.channel;
    p->k = w.c * conv_pixels(w);
    p->p = y.n * conv_pixels(y);
    conv_digits(&p->of_k, w, w.channel, x.channel);
    conv_digits(&p->of_p, y, y.image, x.image);
    conv_of_taps(&p->of_k, o);
    conv_of_pixels(&p->of_p, o);
    v->swap = true;
}
static void conv_plan_input(tnc_conv *v, const conv_images &d, const conv_images &w,
                            const conv_images &x, const tnc_windows &o) {
    tnc_conv_phase *p = &v->phase;
    const int64_t og = w.n / o.groups;
    v->m = w.c;
    v->a = w.at;
    v->a_m = w.channel;
    v->a_group = og * w.image;
    conv_source(v, d, og);
    v->c_m = x.channel;
    /* phase by phase: k and p are times its taps and places */
    v->turned = true;
    p->k = og;
    p->p = x.n;
    conv_digits(&p->of_k, w, w.image, d.channel);
    conv_digits(&p->of_p, x, x.image, d.image);
    p->of_k.every = (int32_t)o.stride[0];
    for (int k = 0; k < 3; k++) {
        conv_axis(&v->axis[k], x, w, o, k);
        v->phases *= v->axis[k].phases;
        p->of_p.step[k + 1] *= o.stride[k];
        p->of_p.by[k] = 1;
    }
    v->swap = v->conj = true;
}
static void conv_plan_weight(tnc_conv *v, const conv_images &d, const conv_images &x,
                             const conv_images &w, const tnc_windows &o) {
    tnc_conv_phase *p = &v->phase;
    v->m = w.n / o.groups;
    v->a = d.at;
    v->a_m = d.channel;
    v->a_group = v->m * d.channel;
    conv_source(v, x, w.c);
    v->c_m = w.image;
    p->k = d.n * conv_pixels(d);
    p->p = w.c * conv_pixels(w);
    conv_digits(&p->of_k, d, d.image, x.image);
    conv_digits(&p->of_p, w, w.channel, x.channel);
    conv_of_pixels(&p->of_k, o);
    conv_of_taps(&p->of_p, o);
    v->conj = true;
}

static bool conv_floats(const tnc_conv &v) {
    return v.dtype == TN_F32 || v.dtype == TN_F64 || v.dtype == TN_F16 || v.dtype == TN_BF16;
}
/* m of a tile; 1: direct or lanes. */
static int conv_tile_m(const tnc_conv &v) {
    if (!conv_floats(v) || v.cut.lanes || (!v.cut.images && v.m <= 4)) return 1;
    return v.m <= 16 ? 16 : v.m <= 32 ? 32 : 64;
}
/* Blocks of chains of the weight's gradient d: a span is a volume, of images all. */
static void conv_weight_blocks(tnc_conv *v, const conv_images &d) {
    const tn_conv_blocks &c = v->cut;
    v->span = d.size[0] > 1 ? d.size[0] : d.n;
    const int64_t full = v->span / c.images, rest = v->span % c.images, lines = d.size[1];
    v->span_blocks = (full * ((c.images * lines + c.lines - 1) / c.lines) +
                      (rest * lines + c.lines - 1) / c.lines) *
                     c.pieces;
    v->blocks = v->span_blocks * (d.size[0] > 1 ? d.n : 1);
}

/* Bytes of scratch memory that sums of blocks take. */
static int64_t conv_sums(const tnc_conv *v) {
    int64_t bytes;
    if (v->split == 1) return 0;
    if (__builtin_mul_overflow(v->elements, v->split + 1, &bytes) ||
        __builtin_mul_overflow(bytes, v->dtype == TN_F64 ? 8 : 4, &bytes))
        return INT64_MAX;
    return bytes;
}
/* Jobs, and how many blocks of chains are computed at a time: all, where sums do not have room. */
static void conv_jobs(tnc_conv *v, const tn_frame *f, int64_t room) {
    const int m = conv_tile_m(*v), wide = v->dtype == TN_F64 ? 64 : 128;
    /* the first phase has the most elements */
    int64_t p = v->phase.p;
    for (int k = 0; k < 3 && v->turned; k++)
        p *= (v->axis[k].n + v->axis[k].stride - 1) / v->axis[k].stride;
    const int64_t each = v->cut.lanes ? 1
                         : m == 1     ? 256
                                      : wide,
                  enough = 2 * (int64_t)tnc_device_of(f)->processors * (v->cut.lanes ? 64 : 1);
    v->m_tiles = (v->m + m - 1) / m;
    v->p_tiles = (p + each - 1) / each;
    v->split = 1;
    v->jobs = v->m_tiles * v->p_tiles * v->groups * v->phases;
    if (!conv_floats(*v) || v->phases > 1 || v->blocks < 2 || v->jobs >= enough || !v->jobs) return;
    v->split = (enough + v->jobs - 1) / v->jobs;
    if (v->split > v->blocks) v->split = v->blocks;
    if (conv_sums(v) > room) v->split = 1;
    v->jobs *= v->split;
}

/* The call as row `of` computes it. */
static void conv_plan(tnc_conv *v, tn_frame *f, int of, const tnc_windows &w, int64_t room) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const conv_images a = conv_images_of(f->in[0], w.dims), b = conv_images_of(f->in[1], w.dims),
                      c = conv_images_of(f->out[0], w.dims);
    const tnc_windows o = conv_windows(w);
    memset(v, 0, sizeof *v);
    v->dtype = out.dtype;
    v->groups = o.groups;
    v->phases = 1;
    v->c = out.at;
    v->elements = out.numel;
    if (of == TNC_CONV_OUTPUT) {
        conv_plan_output(v, a, b, c, o);
        if (f->in[2]) {
            const tn_operand bias = tn_operand_of(f->in[2]);
            v->bias = bias.at;
            v->bias_step = bias.stride[0];
        }
    } else if (of == TNC_CONV_INPUT) {
        conv_plan_input(v, a, b, c, o);
    } else {
        conv_plan_weight(v, a, b, c, o);
        if (conv_floats(*v)) tn_conv_blocks_of(&v->cut, f);
    }
    if (v->cut.images)
        conv_weight_blocks(v, a);
    else if (v->phases == 1)
        v->blocks = (v->phase.k * (v->turned ? conv_pixels(b) : 1) + TNC_CONV_BLOCK - 1) /
                    TNC_CONV_BLOCK; /* turned: at most */
    conv_jobs(v, f, room);
}

static bool conv_prepare_as(tn_frame *f, int of, const tnc_windows &o) {
    const tn_tensor *x = of == TNC_CONV_OUTPUT  ? f->in[0]
                         : of == TNC_CONV_INPUT ? f->out[0]
                                                : f->in[1];
    const conv_images all = conv_images_of(x, o.dims);
    const tnc_windows w = conv_windows(o);
    int64_t bytes;
    tnc_conv v;
    /* planes, rows and columns are 32-bit numbers */
    for (int k = 0; k < 3; k++)
        if (all.size[k] + 2 * w.pad[k] > 1 << 30 || w.stride[k] > 1 << 30 ||
            w.dilation[k] > 1 << 30)
            return tn_fail(f, TN_UNSUPPORTED,
                           "a convolution over more than 2^30 planes, rows or columns has no "
                           "kernel on the device");
    if (tnc_cudnn_takes(f, of, o, &bytes)) return !bytes || tn_device_scratch(f, bytes) != NULL;
    conv_plan(&v, f, of, o, INT64_MAX);
    bytes = conv_sums(&v);
    if (bytes == INT64_MAX) return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}

/* --- launches --------------------------------------------------------------------------------- */

template <class T, class E>
static void conv_launch(const tnc_conv &v, cudaStream_t s) {
    const unsigned grid = tnc_blocks(v.jobs, 1);
    if (v.cut.lanes) {
        TNC_LAUNCH((tnc_conv_lanes<T, E>), tnc_blocks(v.jobs, 16), 256, s, v);
        return;
    }
    switch (conv_tile_m(v)) {
    case 1: TNC_LAUNCH((tnc_conv_direct<tnc_conv_real<T, E>>), grid, 256, s, v); break;
    case 16: TNC_LAUNCH((tnc_conv_tiles<T, E, 1>), grid, 256, s, v); break;
    case 32: TNC_LAUNCH((tnc_conv_tiles<T, E, 2>), grid, 256, s, v); break;
    default: TNC_LAUNCH((tnc_conv_tiles<T, E, 4>), grid, 256, s, v);
    }
}
template <class T, class E>
static void conv_run_floats(tn_frame *f, tnc_conv v) {
    const cudaStream_t s = tnc_stream(f);
    char *out = v.c;
    T *parts = (T *)f->scratch, *sums = parts + v.split * v.elements;
    if (v.split == 1) {
        conv_launch<T, E>(v, s);
        return;
    }
    v.c = (char *)parts;
    for (v.first = 0; v.first < v.blocks; v.first += v.split) {
        const int64_t left = v.blocks - v.first, n = left < v.split ? left : v.split;
        conv_launch<T, E>(v, s);
        TNC_LAUNCH_PLAIN((tnc_conv_sums<T>), tnc_blocks(v.elements, 256), 256, s, parts, sums, out,
                         v.dtype, v.elements, n, v.first == 0, n == left);
    }
}
static void conv_run_as(tn_frame *f, int of, const tnc_windows &o) {
    tnc_conv v;
    if (tnc_cudnn_run(f, of, o)) return;
    conv_plan(&v, f, of, o, (int64_t)f->scratch_bytes); /* which may be the library's */
    if (!v.elements) return;
    switch (v.dtype) {
    case TN_F32: conv_run_floats<float, float>(f, v); break;
    case TN_F64: conv_run_floats<double, double>(f, v); break;
    case TN_F16:
    case TN_BF16: conv_run_floats<float, uint16_t>(f, v); break;
    case TN_C64:
    case TN_C128:
        TNC_LAUNCH((tnc_conv_direct<tnc_conv_complex>), tnc_blocks(v.jobs, 1), 256, tnc_stream(f),
                   v);
        break;
    default:
        TNC_LAUNCH((tnc_conv_direct<tnc_conv_integer>), tnc_blocks(v.jobs, 1), 256, tnc_stream(f),
                   v);
    }
}

#define CONV_ROW(row, dims, of)                                                                 \
    static tnc_windows row##_windows(const tn_frame *f) {                                       \
        TN_ARGS(row, a, f);                                                                     \
        return tnc_windows_of(dims, a->stride, a->padding, a->dilation, a->groups);             \
    }                                                                                           \
    static bool row##_prepare(tn_frame *f) { return conv_prepare_as(f, of, row##_windows(f)); } \
    static void row##_run(tn_frame *f) { conv_run_as(f, of, row##_windows(f)); }
CONV_ROW(conv2d, 2, TNC_CONV_OUTPUT)
CONV_ROW(conv2d_input_grad, 2, TNC_CONV_INPUT)
CONV_ROW(conv2d_weight_grad, 2, TNC_CONV_WEIGHT)
CONV_ROW(conv3d, 3, TNC_CONV_OUTPUT)
CONV_ROW(conv3d_input_grad, 3, TNC_CONV_INPUT)
CONV_ROW(conv3d_weight_grad, 3, TNC_CONV_WEIGHT)
#undef CONV_ROW

static const tn_device_row conv_table[] = {
    {"conv2d", false, NULL, conv2d_prepare, conv2d_run},
    {"conv2d_input_grad", false, NULL, conv2d_input_grad_prepare, conv2d_input_grad_run},
    {"conv2d_weight_grad", false, NULL, conv2d_weight_grad_prepare, conv2d_weight_grad_run},
    {"conv3d", false, NULL, conv3d_prepare, conv3d_run},
    {"conv3d_input_grad", false, NULL, conv3d_input_grad_prepare, conv3d_input_grad_run},
    {"conv3d_weight_grad", false, NULL, conv3d_weight_grad_prepare, conv3d_weight_grad_run}};
TNC_FAMILY(conv, conv_table)
#undef CONV_UNROLL
