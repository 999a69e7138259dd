/* products.cu - products of matrices in the CPU's order, so with its bits (kernels/gemm.h): blocks
 * of 384 of k, in a block one chain of fma, blocks added in rising order. A complex product is four
 * real ones in turn; 16-bit floats are computed in float and rounded once; integers wrap.
 *
 * Tiles: a block of 256 threads makes a tile of c in registers, 8 x 8, 4 x 4 or 2 x 2 elements a
 * thread, and walks along k by 16, of which two lie in shared memory: one is read while the next
 * arrives. Vectors: a thread has one chain. Where elements of b along k are neighbours, a warp
 * reads lines of 32 of them through shared memory.
 * Blocks of k depend on each other by their last step alone. Where there are few elements, each is
 * a job of its own, and a second kernel adds the sums. */
#include "families.cuh"
#include "products.cuh"

/* --- elements --------------------------------------------------------------------------------- */

template <int dtype>
struct tnc_product_bits { /* a type of its own for each 16-bit float */
    uint16_t bits;
};

TNC_FN float tnc_product_mul(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_product_mul(double a, double b, double c) { return fma(a, b, c); }
TNC_FN uint32_t tnc_product_mul(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
TNC_FN uint64_t tnc_product_mul(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }
TNC_FN float tnc_product_number(float, double v) { return (float)v; }
TNC_FN double tnc_product_number(double, double v) { return v; }
TNC_FN uint32_t tnc_product_number(uint32_t, double v) { return (uint32_t)(int64_t)v; }
TNC_FN uint64_t tnc_product_number(uint64_t, double v) { return (uint64_t)(int64_t)v; }

/* Elements E of memory, numbers A of the arithmetic: the low bits of whole numbers. */
template <class From, class Number>
struct tnc_factor_of {
    typedef From E;
    typedef Number A;
    TNC_FN A wide(E v) { return (A)v; }
    TNC_FN E narrow(A v) { return (E)v; }
};
template <int dtype>
struct tnc_factor_half : tnc_factor_of<tnc_product_bits<dtype>, float> {
    typedef tnc_product_bits<dtype> bits;
    TNC_FN float wide(bits v) { return tnc_half<dtype>::get(v.bits); }
    TNC_FN bits narrow(float v) { return bits{tnc_half<dtype>::put(v)}; }
};

TNC_FN int64_t tnc_product_batch(const tnc_product &p, const int64_t *stride, int64_t batch) {
    int64_t at = 0;
    for (int d = p.nbatch - 1; d >= 0; d--) {
        at += batch % p.size[d] * stride[d];
        batch /= p.size[d];
    }
    return at;
}

/* What a job multiplies: two real matrices of a batch. Real products of a complex one, in the
 * CPU's order: re += ar br, re -= ai bi; im += ar bi, im += ai br. */
TNC_FN int64_t tnc_product_a(const tnc_product &p, int64_t batch, int part, int pass) {
    return tnc_product_batch(p, p.a_batch, batch) + (p.turned ? part ^ pass : pass);
}
TNC_FN int64_t tnc_product_b(const tnc_product &p, int64_t batch, int part, int pass) {
    return tnc_product_batch(p, p.b_batch, batch) + (p.turned ? pass : part ^ pass);
}
TNC_FN double tnc_product_alpha(const tnc_product &p, int part, int pass) {
    return pass == 1 && part == 0 ? -p.alpha : p.alpha;
}
/* beta * start, rounded to its dtype. */
template <class F>
TNC_FN typename F::A tnc_product_start(const tnc_product &p, int64_t i, int64_t j, int part) {
    typedef typename F::A A;
    if (!p.start) return 0;
    const A v = F::wide(((const typename F::E *)p.start)[i * p.start_row + j * p.start_col + part]);
    if (p.beta == 1) return v;
    return F::wide(F::narrow(v * tnc_product_number(A(), p.beta)));
}

/* c with one more sum: the first, where nothing stands in front, as it is. */
template <class A>
TNC_FN A tnc_product_add(A c, bool fresh, A sum, A alpha) {
    return fresh ? sum : tnc_product_mul(sum, alpha, c);
}

/* --- tiles ------------------------------------------------------------------------------------ */

#ifdef TNC_EMULATED
#define PRODUCT_UNROLL
#define PRODUCT_UNROLL_BY(n)
#else
#define PRODUCT_UNROLL _Pragma("unroll")
#define PRODUCT_UNROLL_BY(n) _Pragma(TNI_TEXT(unroll n))
#endif

enum { TNC_TILE_DEEP = 16, TNC_TILE_THREADS = 256 };

/* One side of a tile, `lines` rows of a or columns of b, 16 deep, on its way from memory through
 * registers. Memory is read along its nearer dimension. */
template <class F, int lines>
struct tnc_tile_side {
    typedef typename F::E E;
    typedef typename F::A A;
    enum {
        each = lines * TNC_TILE_DEEP / TNC_TILE_THREADS,
        most = 16 / (int)sizeof(E),
        wide = each < most ? each : most, /* elements of a load */
        loads = each / wide,
        word = 16 / (int)sizeof(A), /* of shared memory */
        room = lines + word         /* between depths of shared memory */
    };
    typedef tnc_pack<E, wide> pack;
    pack held[loads];

    /* Where load i of this thread begins. */
    static __device__ __forceinline__ void place(int i, bool deep, int *line, int *depth) {
        const int v = (int)threadIdx.x + i * TNC_TILE_THREADS;
        if (deep) {
            *line = v / (TNC_TILE_DEEP / wide);
            *depth = v % (TNC_TILE_DEEP / wide) * wide;
        } else {
            *line = v % (lines / wide) * wide;
            *depth = v / (lines / wide);
        }
    }
    /* Of n lines and k depths from `at` on; zeros beyond them. */
    __device__ __forceinline__ void load(const E *at, int64_t line_step, int64_t depth_step,
                                         int64_t n, int64_t k, bool deep, bool whole) {
        PRODUCT_UNROLL
        for (int i = 0; i < loads; i++) {
            int line, depth;
            place(i, deep, &line, &depth);
            const E *from = at + line * line_step + depth * depth_step;
            const int64_t left = deep ? (line < n ? k - depth : 0) : (depth < k ? n - line : 0),
                          step = deep ? depth_step : line_step;
            if (whole && left >= wide) {
                held[i] = *tnc_aligned<pack>((const char *)from);
                continue;
            }
            PRODUCT_UNROLL
            for (int e = 0; e < wide; e++) held[i].e[e] = e < left ? from[e * step] : E();
        }
    }
    __device__ __forceinline__ void store(A *to, bool deep) const {
        PRODUCT_UNROLL
        for (int i = 0; i < loads; i++) {
            int line, depth;
            place(i, deep, &line, &depth);
            A *at = to + depth * room + line;
            const int step = deep ? (int)room : 1;
            PRODUCT_UNROLL
            for (int e = 0; e < wide; e++) at[e * step] = F::wide(held[i].e[e]);
        }
    }
};

/* A tile of c: threads_down x threads_across threads of rows x cols elements each. A thread's
 * columns, and rows, lie in groups of one word of shared memory. */
template <class F, int rows, int cols>
struct tnc_tile {
    typedef typename F::A A;
    typedef typename F::E E;
    enum {
        across = 16,
        down = TNC_TILE_THREADS / across,
        height = rows * down,
        width = cols * across,
        word = 16 / (int)sizeof(A),
        row_word = rows < word ? rows : word,
        col_word = cols < word ? cols : word
    };
    typedef tnc_tile_side<F, height> side_a;
    typedef tnc_tile_side<F, width> side_b;
    A sum[rows][cols], c[rows][cols];

    static __device__ __forceinline__ int row(int i) {
        return i / row_word * (row_word * down) + (int)threadIdx.x / across * row_word +
               i % row_word;
    }
    static __device__ __forceinline__ int col(int j) {
        return j / col_word * (col_word * across) + (int)threadIdx.x % across * col_word +
               j % col_word;
    }
    __device__ __forceinline__ void clear(void) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) sum[i][j] = 0;
    }
    /* One depth of both sides. */
    __device__ __forceinline__ void step(const A *a, const A *b) {
        A x[rows], y[cols];
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i += row_word) {
            const auto v = *tnc_aligned<tnc_pack<A, row_word>>((const char *)(a + row(i)));
            PRODUCT_UNROLL
            for (int e = 0; e < row_word; e++) x[i + e] = v.e[e];
        }
        PRODUCT_UNROLL
        for (int j = 0; j < cols; j += col_word) {
            const auto v = *tnc_aligned<tnc_pack<A, col_word>>((const char *)(b + col(j)));
            PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++) y[j + e] = v.e[e];
        }
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) sum[i][j] = tnc_product_mul(x[i], y[j], sum[i][j]);
    }
    __device__ __forceinline__ void add(bool fresh, A alpha) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) c[i][j] = tnc_product_add(c[i][j], fresh, sum[i][j], alpha);
    }
    __device__ __forceinline__ void start(const tnc_product &p, int64_t i0, int64_t j0, int part) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) {
            c[i][j] = 0;
            if (i0 + row(i) < p.m && j0 + col(j) < p.n)
                c[i][j] = tnc_product_start<F>(p, i0 + row(i), j0 + col(j), part);
        }
    }
    __device__ __forceinline__ void give(const tnc_product &p, int64_t i0, int64_t j0,
                                         E *to) const {
        typedef tnc_pack<E, col_word> pack;
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j += col_word) {
            const int64_t r = i0 + row(i), q = j0 + col(j);
            E *at = to + r * p.c_row + q * p.c_col;
            pack v;
            PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++) v.e[e] = F::narrow(c[i][j + e]);
            if (r < p.m && p.c_wide && q + col_word <= p.n)
                *(pack *)(void *)at = v;
            else
                PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++)
                if (r < p.m && q + e < p.n) at[e * p.c_col] = v.e[e];
        }
    }
    __device__ __forceinline__ void give_sums(const tnc_product &p, int64_t i0, int64_t j0,
                                              A *to) const {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++)
            if (i0 + row(i) < p.m && j0 + col(j) < p.n)
                to[(i0 + row(i)) * p.n + j0 + col(j)] = sum[i][j];
    }
};

/* Which elements, and which blocks of k, a job has. */
struct tnc_tile_job {
    int64_t i0, j0, batch, block; /* block: of all passes; where jobs are split */
    int part;
};
template <class Tile>
TNC_FN tnc_tile_job tnc_tile_job_of(const tnc_product &p, int64_t job) {
    const int64_t across = (p.n + Tile::width - 1) / Tile::width,
                  down = (p.m + Tile::height - 1) / Tile::height,
                  blocks = p.split ? p.blocks * p.parts : 1;
    tnc_tile_job q;
    q.j0 = job % across * Tile::width;
    job /= across;
    q.i0 = job % down * Tile::height;
    job /= down;
    q.block = job % blocks;
    job /= blocks;
    q.part = (int)(job % p.parts);
    q.batch = job / p.parts;
    return q;
}

/* Number `at` of the steps along k of a job: its pass, its depth, and where its block of k ends. */
struct tnc_tile_step {
    int pass;
    int64_t k0, end;
};
TNC_FN tnc_tile_step tnc_tile_step_of(const tnc_product &p, const tnc_tile_job &q, int64_t at) {
    const int64_t steps = (p.k + TNC_TILE_DEEP - 1) / TNC_TILE_DEEP,
                  first = p.split ? q.block % p.blocks * TN_PRODUCT_BLOCK : 0;
    tnc_tile_step s;
    s.pass = (int)(p.split ? q.block / p.blocks : at / steps);
    s.k0 = first + (p.split ? at : at % steps) * TNC_TILE_DEEP;
    s.end = s.k0 / TN_PRODUCT_BLOCK * TN_PRODUCT_BLOCK + TN_PRODUCT_BLOCK;
    if (s.end > p.k) s.end = p.k;
    return s;
}
TNC_FN int64_t tnc_tile_steps(const tnc_product &p, const tnc_tile_job &q) {
    if (!p.split) return (p.k + TNC_TILE_DEEP - 1) / TNC_TILE_DEEP * p.parts;
    const int64_t left = p.k - q.block % p.blocks * TN_PRODUCT_BLOCK;
    return ((left < TN_PRODUCT_BLOCK ? left : (int64_t)TN_PRODUCT_BLOCK) + TNC_TILE_DEEP - 1) /
           TNC_TILE_DEEP;
}

template <class Tile>
TNC_FN void tnc_tile_load(const tnc_product &p, const tnc_tile_job &q, const tnc_tile_step &s,
                          typename Tile::side_a *a, typename Tile::side_b *b) {
    typedef typename Tile::E E;
    const E *from = (const E *)p.a + tnc_product_a(p, q.batch, q.part, s.pass) + q.i0 * p.a_row +
                    s.k0 * p.a_col,
            *other = (const E *)p.b + tnc_product_b(p, q.batch, q.part, s.pass) + s.k0 * p.b_row +
                     q.j0 * p.b_col;
    a->load(from, p.a_row, p.a_col, p.m - q.i0, s.end - s.k0, p.a_deep, p.a_wide);
    b->load(other, p.b_col, p.b_row, p.n - q.j0, s.end - s.k0, p.b_deep, p.b_wide);
}

/* All steps of a job: while one is multiplied, the next is on its way to the other half of shared
 * memory. Nothing is multiplied beyond the end of k: a product with 0 would turn -0 into 0. */
template <class Tile>
TNC_FN void tnc_tile_multiply(const tnc_product &p, const tnc_tile_job &q, Tile *t,
                              typename Tile::A *sa, typename Tile::A *sb) {
    enum {
        size_a = TNC_TILE_DEEP * Tile::side_a::room,
        size_b = TNC_TILE_DEEP * Tile::side_b::room
    };
    const int64_t steps = tnc_tile_steps(p, q);
    typename Tile::side_a a;
    typename Tile::side_b b;
    bool fresh = !p.add;
    tnc_tile_step s = tnc_tile_step_of(p, q, 0), next = s;
    tnc_tile_load<Tile>(p, q, s, &a, &b);
    a.store(sa, p.a_deep);
    b.store(sb, p.b_deep);
    __syncthreads();
    t->clear();
    for (int64_t at = 0; at < steps; at++, s = next) {
        const int now = (int)(at & 1), n = (int)(s.end - s.k0);
        const typename Tile::A *x = sa + now * size_a, *y = sb + now * size_b;
        if (at + 1 < steps) {
            next = tnc_tile_step_of(p, q, at + 1);
            tnc_tile_load<Tile>(p, q, next, &a, &b);
        }
        if (n >= TNC_TILE_DEEP) {
            PRODUCT_UNROLL_BY(8)
            for (int d = 0; d < TNC_TILE_DEEP; d++)
                t->step(x + d * Tile::side_a::room, y + d * Tile::side_b::room);
        } else {
            for (int d = 0; d < n; d++)
                t->step(x + d * Tile::side_a::room, y + d * Tile::side_b::room);
        }
        if (n <= TNC_TILE_DEEP && !p.split) { /* the end of a block of k */
            t->add(fresh,
                   tnc_product_number(typename Tile::A(), tnc_product_alpha(p, q.part, s.pass)));
            t->clear();
            fresh = false;
        }
        if (at + 1 < steps) {
            a.store(sa + (1 - now) * size_a, p.a_deep);
            b.store(sb + (1 - now) * size_b, p.b_deep);
        }
        __syncthreads();
    }
}

template <class F, int rows, int cols>
__global__ void __launch_bounds__(TNC_TILE_THREADS) tnc_product_tiles(tnc_product p, int64_t jobs) {
    typedef tnc_tile<F, rows, cols> tile;
    typedef typename F::A A;
    typedef typename F::E E;
    TNC_SHARED(tnc_pair, room,
               2 * TNC_TILE_DEEP * (tile::side_a::room + tile::side_b::room) * sizeof(A) / 16);
    A *sa = (A *)room, *sb = sa + 2 * TNC_TILE_DEEP * tile::side_a::room;
    for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const tnc_tile_job q = tnc_tile_job_of<tile>(p, job);
        tile t;
        t.start(p, q.i0, q.j0, q.part);
        tnc_tile_multiply<tile>(p, q, &t, sa, sb);
        if (p.split)
            t.give_sums(p, q.i0, q.j0,
                        (A *)p.sums +
                            ((q.block * p.parts + q.part) * p.batches + q.batch) * p.m * p.n);
        else
            t.give(p, q.i0, q.j0, (E *)p.c + q.batch * p.c_batch + q.part);
    }
}

/* --- vectors ---------------------------------------------------------------------------------- */

/* Of m = 1: a job is one block of k of one element, with neighbours along n. */
struct tnc_vector_job {
    int64_t j, batch, block, n; /* n: terms */
    int part;
    int64_t a, b; /* where it begins in them */
};
TNC_FN tnc_vector_job tnc_vector_job_of(const tnc_product &p, int64_t job) {
    tnc_vector_job q;
    q.j = job % p.n;
    job /= p.n;
    q.batch = job % p.batches;
    job /= p.batches;
    q.part = (int)(job % p.parts);
    q.block = job / p.parts;
    const int64_t k0 = q.block % p.blocks * TN_PRODUCT_BLOCK, left = p.k - k0;
    const int pass = (int)(q.block / p.blocks);
    q.n = left < TN_PRODUCT_BLOCK ? left : (int64_t)TN_PRODUCT_BLOCK;
    q.a = tnc_product_a(p, q.batch, q.part, pass) + k0 * p.a_col;
    q.b = tnc_product_b(p, q.batch, q.part, pass) + k0 * p.b_row + q.j * p.b_col;
    return q;
}

/* A thread a job, straight from memory: elements of b along n are neighbours. */
template <class F>
__global__ void __launch_bounds__(128) tnc_product_across(tnc_product p, int64_t jobs) {
    typedef typename F::E E;
    typedef typename F::A A;
    for (int64_t job = TNC_FIRST(); job < jobs; job += TNC_STEP()) {
        const tnc_vector_job q = tnc_vector_job_of(p, job);
        const E *a = (const E *)p.a + q.a, *b = (const E *)p.b + q.b;
        A sum = 0;
        int64_t k = 0;
        for (; k + 8 <= q.n; k += 8) {
            E x[8], y[8];
            PRODUCT_UNROLL
            for (int e = 0; e < 8; e++) {
                x[e] = a[(k + e) * p.a_col];
                y[e] = b[(k + e) * p.b_row];
            }
            PRODUCT_UNROLL
            for (int e = 0; e < 8; e++) sum = tnc_product_mul(F::wide(x[e]), F::wide(y[e]), sum);
        }
        for (; k < q.n; k++)
            sum = tnc_product_mul(F::wide(a[k * p.a_col]), F::wide(b[k * p.b_row]), sum);
        ((A *)p.sums)[job] = sum;
    }
}

/* A warp has 32 jobs and reads 32 terms of b of each at a time: a line of memory of one job by all
 * lanes, so that every lane finds its own in shared memory. All 32 lines are on their way while the
 * lanes multiply the last ones. Terms of a, mostly the same for all, come straight from memory. */
enum { TNC_VECTOR_WARPS = 2 };
/* Terms k to k + 32 of b of the warp's jobs. */
template <class E>
TNC_FN void tnc_vector_bring(const tnc_product &p, const tnc_vector_job &q, int64_t k, E *held) {
    const int64_t at = k + threadIdx.x % 32;
    PRODUCT_UNROLL
    for (int r = 0; r < 32; r++) {
        const int64_t b = __shfl_sync(0xffffffffu, q.b, r);
        const int n = __shfl_sync(0xffffffffu, (int)q.n, r);
        held[r] = at < n ? ((const E *)p.b)[b + at * p.b_row] : E();
    }
}
template <class F>
__global__ void __launch_bounds__(32 * TNC_VECTOR_WARPS)
    tnc_product_along(tnc_product p, int64_t jobs) {
    typedef typename F::E E;
    typedef typename F::A A;
    TNC_SHARED(A, room, TNC_VECTOR_WARPS * 32 * 33);
    const int lane = (int)(threadIdx.x % 32);
    A *at = room + threadIdx.x / 32 * (32 * 33);
    const int64_t warps = (int64_t)gridDim.x * TNC_VECTOR_WARPS;
    for (int64_t group = (int64_t)blockIdx.x * TNC_VECTOR_WARPS + threadIdx.x / 32;
         group * 32 < jobs; group += warps) {
        const int64_t job = group * 32 + lane;
        const tnc_vector_job q = tnc_vector_job_of(p, job < jobs ? job : jobs - 1);
        const E *a = (const E *)p.a + q.a;
        E held[32];
        A sum = 0;
        tnc_vector_bring(p, q, 0, held);
        for (int64_t k = 0; k < TN_PRODUCT_BLOCK && k < p.k; k += 32) {
            PRODUCT_UNROLL
            for (int r = 0; r < 32; r++) at[r * 33 + lane] = F::wide(held[r]);
            __syncwarp();
            tnc_vector_bring(p, q, k + 32, held);
            const int n = (int)(q.n - k < 32 ? q.n - k : 32);
            PRODUCT_UNROLL_BY(8)
            for (int e = 0; e < n; e++)
                sum = tnc_product_mul(F::wide(a[(k + e) * p.a_col]), at[lane * 33 + e], sum);
            __syncwarp();
        }
        if (job < jobs) ((A *)p.sums)[job] = sum;
    }
}

/* --- adding sums ------------------------------------------------------------------------------ */

/* A thread an element: the sums of its blocks of k in rising order. No block: beta * start. */
template <class F>
__global__ void __launch_bounds__(128) tnc_product_fold(tnc_product p, int64_t elements) {
    typedef typename F::A A;
    for (int64_t i = TNC_FIRST(); i < elements; i += TNC_STEP()) {
        const int64_t j = i % p.n, r = i / p.n % p.m, batch = i / p.n / p.m % p.batches;
        const int part = (int)(i / p.n / p.m / p.batches);
        bool fresh = !p.add;
        A c = fresh ? A() : tnc_product_start<F>(p, r, j, part);
        for (int64_t b = 0; b < p.blocks * p.parts; b++) {
            const int pass = (int)(b / p.blocks);
            const A alpha = tnc_product_number(A(), tnc_product_alpha(p, part, pass));
            c = tnc_product_add(c, fresh, ((const A *)p.sums)[b * elements + i], alpha);
            fresh = false;
        }
        ((typename F::E *)p.c)[batch * p.c_batch + r * p.c_row + j * p.c_col + part] = F::narrow(c);
    }
}

/* --- which kernels ---------------------------------------------------------------------------- */

enum product_way {
    PRODUCT_FOLD,
    PRODUCT_ACROSS,
    PRODUCT_ALONG,
    PRODUCT_SMALL,
    PRODUCT_MIDDLE,
    PRODUCT_LARGE
};
enum { PRODUCT_SUMS = 1 << 28 }; /* bytes of sums at most, where one could do without */

/* The side of a way's square tile. */
static int64_t product_side(int way) {
    return way == PRODUCT_LARGE ? 128 : way == PRODUCT_MIDDLE ? 64 : 32;
}
static int64_t product_tiles(const tnc_product *p, int way) {
    const int64_t side = product_side(way);
    return (p->m + side - 1) / side * ((p->n + side - 1) / side) * p->batches * p->parts;
}
/* Bytes of a number of the arithmetic. */
static int64_t product_bytes(const tnc_product *p) {
    return p->dtype == TN_F64 || p->dtype == TN_I64 ? 8 : 4;
}
/* Bytes of all sums; false: more than an int64_t counts. */
static bool product_sums(const tnc_product *p, int64_t *bytes) {
    const int64_t elements = p->m * p->n * p->batches * p->parts; /* those of the result */
    return !__builtin_mul_overflow(elements, p->blocks * p->parts * product_bytes(p), bytes);
}

/* Tiles so large that every processor still has some, where jobs are split if need be. */
static int product_tile_way(tnc_product *p, int64_t processors) {
    const int64_t blocks = p->blocks * p->parts;
    const bool large = p->dtype == TN_F32 || p->dtype == TN_F16 || p->dtype == TN_BF16,
               small = large || p->dtype == TN_F64;
    int64_t bytes;
    int way = small ? PRODUCT_SMALL : PRODUCT_MIDDLE;
    if (large && p->m > 64 && p->n > 64 &&
        product_tiles(p, PRODUCT_LARGE) * blocks >= 2 * processors)
        way = PRODUCT_LARGE;
    else if ((p->m > 32 || p->n > 32) && product_tiles(p, PRODUCT_MIDDLE) * blocks >= processors)
        way = PRODUCT_MIDDLE;
#ifdef TNC_EMULATED /* tests come to all of them */
    const int forced = (int)emu_number("EMU_PRODUCT_WAY", way);
    if ((small && forced == PRODUCT_SMALL) || forced == PRODUCT_MIDDLE ||
        (large && forced == PRODUCT_LARGE))
        way = forced;
    if (emu_number("EMU_PRODUCT_WHOLE", 0)) return way;
#endif
    p->split = p->blocks > 1 && product_tiles(p, way) < 2 * processors && product_sums(p, &bytes) &&
               bytes <= PRODUCT_SUMS;
    return way;
}

/* A column is the row of the transposed product. */
static void product_turn(tnc_product *p) {
    const tnc_product t = *p;
    p->turned = true;
    p->m = t.n;
    p->n = t.m;
    p->a = t.b;
    p->a_row = t.b_col;
    p->a_col = t.b_row;
    p->b = t.a;
    p->b_row = t.a_col;
    p->b_col = t.a_row;
    p->c_row = t.c_col;
    p->c_col = t.c_row;
    p->start_row = t.start_col;
    p->start_col = t.start_row;
    memcpy(p->a_batch, t.b_batch, sizeof p->a_batch);
    memcpy(p->b_batch, t.a_batch, sizeof p->b_batch);
}

static bool product_nearer(int64_t a, int64_t b) { return (a < 0 ? -a : a) <= (b < 0 ? -b : b); }
/* Whether all that begins at `at` and steps so far begins at multiples of 16 bytes. */
static bool product_aligned(const char *at, int64_t bytes, int64_t step, const int64_t *batch,
                            int n) {
    bool is = (uintptr_t)at % 16 == 0 && step * bytes % 16 == 0;
    for (int d = 0; d < n; d++) is = is && batch[d] * bytes % 16 == 0;
    return is;
}
static void product_reads(tnc_product *p) {
    const int64_t bytes = tnc_dtype_bytes(p->dtype);
    p->a_deep = product_nearer(p->a_col, p->a_row);
    p->b_deep = !product_nearer(p->b_col, p->b_row);
    p->a_wide =
        (p->a_deep ? p->a_col : p->a_row) == 1 &&
        product_aligned(p->a, bytes, p->a_deep ? p->a_row : p->a_col, p->a_batch, p->nbatch);
    p->b_wide =
        (p->b_deep ? p->b_row : p->b_col) == 1 &&
        product_aligned(p->b, bytes, p->b_deep ? p->b_col : p->b_row, p->b_batch, p->nbatch);
    p->c_wide = p->c_col == 1 && product_aligned(p->c, bytes, p->c_row, &p->c_batch, 1);
}

/* The kernels for p, which is made ready for them. */
static int product_way_of(tnc_product *p, const tn_frame *f) {
    int way = PRODUCT_FOLD;
    if (!p->k) return way;
    if (p->n == 1) product_turn(p);
    product_reads(p);
    if (p->m > 1) return product_tile_way(p, tnc_device_of(f)->processors);
    p->split = true;
    return p->b_deep ? PRODUCT_ALONG : PRODUCT_ACROSS;
}

/* --- launches --------------------------------------------------------------------------------- */

template <class F, int side>
static void product_launch_tiles(const tnc_product &p, int way, cudaStream_t s) {
    const int64_t jobs = product_tiles(&p, way) * (p.split ? p.blocks * p.parts : 1);
    TNC_LAUNCH((tnc_product_tiles<F, side / 16, side / 16>), tnc_blocks(jobs, 1), TNC_TILE_THREADS,
               s, p, jobs);
}
/* A type's tiles have sides from 16 least to 16 most: whole numbers have one kind alone, and those
 * of 8 bytes no large ones, for their registers. */
template <class F, int least, int most>
static void product_launch(const tnc_product &p, int way, cudaStream_t s) {
    const int64_t elements = p.m * p.n * p.batches * p.parts, jobs = elements * p.blocks * p.parts;
    if (way == PRODUCT_ACROSS)
        TNC_LAUNCH_PLAIN((tnc_product_across<F>), tnc_blocks(jobs, 128), 128, s, p, jobs);
    else if (way == PRODUCT_ALONG)
        TNC_LAUNCH((tnc_product_along<F>), tnc_blocks(jobs, 32 * TNC_VECTOR_WARPS),
                   32 * TNC_VECTOR_WARPS, s, p, jobs);
    else if (way == PRODUCT_SMALL)
        product_launch_tiles<F, least * 16>(p, way, s);
    else if (way == PRODUCT_MIDDLE)
        product_launch_tiles<F, 64>(p, way, s);
    else if (way == PRODUCT_LARGE)
        product_launch_tiles<F, most * 16>(p, way, s);
    if (p.split || way == PRODUCT_FOLD)
        TNC_LAUNCH_PLAIN((tnc_product_fold<F>), tnc_blocks(elements, 128), 128, s, p, elements);
}

static void product_run(const tnc_product &p, int way, cudaStream_t s) {
    switch (p.dtype) {
    case TN_F32: product_launch<tnc_factor_of<float, float>, 2, 8>(p, way, s); break;
    case TN_F16: product_launch<tnc_factor_half<TN_F16>, 2, 8>(p, way, s); break;
    case TN_BF16: product_launch<tnc_factor_half<TN_BF16>, 2, 8>(p, way, s); break;
    case TN_F64: product_launch<tnc_factor_of<double, double>, 2, 4>(p, way, s); break;
    case TN_U8: product_launch<tnc_factor_of<uint8_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I8: product_launch<tnc_factor_of<int8_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I16: product_launch<tnc_factor_of<int16_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I32: product_launch<tnc_factor_of<int32_t, uint32_t>, 4, 4>(p, way, s); break;
    default: product_launch<tnc_factor_of<int64_t, uint64_t>, 4, 4>(p, way, s);
    }
}

TNC_PRIV void tnc_product_alone(tnc_product *p, cudaStream_t s) {
    product_reads(p);
    product_run(*p, p->k ? PRODUCT_SMALL : PRODUCT_FOLD, s);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* a times b, or its transpose; the result is the call's. */
static void product_of(tnc_product *p, const tn_frame *f, tn_tensor *a, tn_tensor *b, bool turned) {
    const tn_operand at = tn_operand_of(a), bt = tn_operand_of(b), c = tn_operand_of(f->out[0]);
    const int64_t parts = at.dtype == TN_C64 || at.dtype == TN_C128 ? 2 : 1;
    tn_product_plan plan;
    tn_product_plan_of(&plan, a, b, turned);
    memset(p, 0, sizeof *p);
    p->dtype = parts == 1 ? (int)at.dtype : at.dtype == TN_C64 ? (int)TN_F32 : (int)TN_F64;
    p->parts = (int32_t)parts;
    p->m = plan.m;
    p->n = plan.n;
    p->k = plan.k;
    p->batches = plan.batches;
    p->blocks = (plan.k + TN_PRODUCT_BLOCK - 1) / TN_PRODUCT_BLOCK;
    p->a_row = plan.a_row * parts;
    p->a_col = plan.a_col * parts;
    p->b_row = plan.b_row * parts;
    p->b_col = plan.b_col * parts;
    p->c_row = plan.n * parts;
    p->c_col = parts;
    p->c_batch = plan.m * plan.n * parts;
    p->nbatch = plan.nbatch;
    for (int d = 0; d < plan.nbatch; d++) {
        p->size[d] = plan.size[d];
        p->a_batch[d] = plan.a_batch[d] * parts;
        p->b_batch[d] = plan.b_batch[d] * parts;
    }
    p->a = at.at;
    p->b = bt.at;
    p->c = c.at;
    p->alpha = p->beta = 1;
}
/* beta * t, broadcast, in front of the product; a beta of 0 does not read t. */
static void product_begins(tnc_product *p, const tn_tensor *t, double beta) {
    const tn_operand s = tn_operand_of(t);
    const int d = s.ndim;
    p->add = true;
    p->beta = beta;
    if (beta == 0) return;
    p->start = s.at;
    if (d > 0 && s.size[d - 1] != 1) p->start_col = s.stride[d - 1] * p->parts;
    if (d > 1 && s.size[d - 2] != 1) p->start_row = s.stride[d - 2] * p->parts;
}

static void matmul_product(tnc_product *p, const tn_frame *f) {
    product_of(p, f, f->in[0], f->in[1], false);
}
static void addmm_product(tnc_product *p, const tn_frame *f) {
    TN_ARGS(addmm, a, f);
    product_of(p, f, f->in[1], f->in[2], false);
    product_begins(p, f->in[0], a->beta);
    p->alpha = a->alpha;
}
static void linear_rows_product(tnc_product *p, const tn_frame *f) {
    product_of(p, f, f->in[0], f->in[1], true);
    if (f->in[2]) product_begins(p, f->in[2], 1);
}

static bool product_is_nothing(const tnc_product *p) { return !(p->m && p->n && p->batches); }
template <void (*of)(tnc_product *, const tn_frame *)>
static bool product_row_prepare(tn_frame *f) {
    tnc_product p;
    int64_t bytes;
    of(&p, f);
    if (product_is_nothing(&p)) return true;
    if (tnc_blas_takes(f, &p, &bytes)) return !bytes || tn_device_scratch(f, bytes) != NULL;
    product_way_of(&p, f);
    if (!p.split) return true;
    return product_sums(&p, &bytes) ? tn_device_scratch(f, bytes) != NULL
                                    : tn_fail(f, TN_MEMORY, "the product is too large");
}
template <void (*of)(tnc_product *, const tn_frame *)>
static void product_row_run(tn_frame *f) {
    tnc_product p;
    int64_t bytes;
    of(&p, f);
    if (product_is_nothing(&p)) return;
    if (tnc_blas_takes(f, &p, &bytes) && tnc_blas_run(f, &p)) return;
    const int way = product_way_of(&p, f);
    /* Where prepare left it to a library there is no room for sums; then it is no vector. */
    if (p.split && (!product_sums(&p, &bytes) || bytes > (int64_t)f->scratch_bytes))
        p.split = false;
    p.sums = (char *)f->scratch;
    product_run(p, way, tnc_stream(f));
}

#define PRODUCT_ROW(row) \
    { #row, false, NULL, product_row_prepare < row##_product>, product_row_run < row##_product> }
static const tn_device_row product_table[] = {PRODUCT_ROW(matmul), PRODUCT_ROW(addmm),
                                              PRODUCT_ROW(linear_rows)};
TNC_FAMILY(products, product_table)
#undef PRODUCT_ROW
#undef PRODUCT_UNROLL
#undef PRODUCT_UNROLL_BY
