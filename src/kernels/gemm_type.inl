/* gemm_type.inl - matrix product for one element type of one instruction set; conv_type.inl uses
 * its tiles.
 *
 * A tile is GEMM_ROWS x GEMM_COLS elements of c in registers: two vectors of b, one broadcast of
 * a, for each k. a is read where it lies (a_row, a_col) or from panels; b where it lies or from a
 * panel packed on the stack.
 *
 * An element of c is one chain of fma over a block of TNI_K_BLOCK terms in rising k, whatever tile
 * holds it; blocks are added in rising order. So the bits depend on neither tile nor width. */
#if defined(__GNUC__) && !defined(__clang__) /* half the compile time, the same loops */
#pragma GCC push_options
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#endif

/* What the tiles of one product have in common; strides of a in bytes. The chains of row r begin
 * at start[r]. */
typedef struct TNI_FNT(gemm_tiles) {
    ptrdiff_t a_row, a_col;
    int64_t b_row, k;
    const T *start;
    T alpha;
} TNI_FNT(gemm_tiles);

typedef void (*TNI_FNT(gemm_tile))(const TNI_FNT(gemm_tiles) * q, const T *a, const T *b, T *c,
                                   int64_t c_row, bool add);
GEMM_TILE(1, GEMM_R1)
GEMM_TILE(4, GEMM_R4)
#if TNI_ISA > 0
GEMM_TILE(2, GEMM_R2)
#endif
#if TNI_ISA == 1
GEMM_TILE(6, GEMM_R6)
#elif TNI_ISA == 2 || TNI_ISA == 3
GEMM_TILE(8, GEMM_R8)
#endif
#if TNI_ISA == 2
GEMM_TILE(14, GEMM_R14)
#endif

/* The tallest tile of at most m rows, but lower where two tiles of the remainder are faster; *h is
 * its height. */
TNI_INLINE TNI_FNT(gemm_tile) TNI_FNT(gemm_pick)(int64_t m, int64_t *h) {
#if TNI_ISA == 1
    if (m == 8 || m == 9) return *h = 4, TNI_FNT(gemm_tile4);
#elif TNI_ISA == 2
    if (m == 16) return *h = 8, TNI_FNT(gemm_tile8);
#endif
    if (m >= GEMM_ROWS) return *h = GEMM_ROWS, GEMM_FULL;
#if TNI_ISA == 2
    if (m >= 8) return *h = 8, TNI_FNT(gemm_tile8);
#endif
    if (m >= 4) return *h = 4, TNI_FNT(gemm_tile4);
#if TNI_ISA > 0
    if (m >= 2) return *h = 2, TNI_FNT(gemm_tile2);
#endif
    return *h = 1, TNI_FNT(gemm_tile1);
}

/* Columns [0, n) of h rows of a finished tile to c, whose columns may lie apart. One lane at a
 * time, with the fma of whole tiles, so that the bits are theirs. */
static void TNI_FNT(gemm_edge)(T *c, int64_t c_row, int64_t c_col, const T *tile, int64_t h,
                               int64_t n, T alpha, bool add) {
    TNI_KERNEL_PATH(gemm_edge);
    for (int64_t i = 0; i < h; i++, c += c_row, tile += GEMM_COLS)
        for (int64_t j = 0; j < n; j++) {
            if (add)
                V_STN(c + j * c_col,
                      V_FMA(V_LDN(tile + j, 1), V_SET(alpha), V_LDN(c + j * c_col, 1)), 1);
            else
                c[j * c_col] = tile[j];
        }
}

/* --- packing ---------------------------------------------------------------------------------- */

#if TNI_ISA == 1 || TNI_ISA == 2
#if defined(TNI_TYPE_F32)
#define GEMM_SIDE 8
/* to[8][step] = transpose of 8 rows of 8; the first n columns are stored. In three rounds: pairs of
 * rows interleaved, pairs of pairs, then halves of 128 bits exchanged. */
#define GEMM_PAIR(i)                    \
    x = _mm256_loadu_ps(row[i]);        \
    y = _mm256_loadu_ps(row[i + 1]);    \
    l##i = _mm256_unpacklo_ps(x, y);    \
    h##i = _mm256_unpackhi_ps(x, y);
#define GEMM_QUAD(i, j, v)                       \
    v##0 = _mm256_shuffle_ps(l##i, l##j, 0x44);  \
    v##1 = _mm256_shuffle_ps(l##i, l##j, 0xee);  \
    v##2 = _mm256_shuffle_ps(h##i, h##j, 0x44);  \
    v##3 = _mm256_shuffle_ps(h##i, h##j, 0xee);
#define GEMM_LOW(i) _mm256_permute2f128_ps(p##i, q##i, 0x20)
#define GEMM_HIGH(i) _mm256_permute2f128_ps(p##i, q##i, 0x31)
static void TNI_FNT(gemm_turn)(float *to, int64_t step, const float *const *row, int64_t n) {
    __m256 x, y, l0, h0, l2, h2, l4, h4, l6, h6, p0, p1, p2, p3, q0, q1, q2, q3;
    GEMM_PAIR(0)
    GEMM_PAIR(2)
    GEMM_PAIR(4)
    GEMM_PAIR(6)
    GEMM_QUAD(0, 2, p)
    GEMM_QUAD(4, 6, q)
    if (n == 8) {
        _mm256_storeu_ps(to, GEMM_LOW(0));
        _mm256_storeu_ps(to + step, GEMM_LOW(1));
        _mm256_storeu_ps(to + 2 * step, GEMM_LOW(2));
        _mm256_storeu_ps(to + 3 * step, GEMM_LOW(3));
        _mm256_storeu_ps(to + 4 * step, GEMM_HIGH(0));
        _mm256_storeu_ps(to + 5 * step, GEMM_HIGH(1));
        _mm256_storeu_ps(to + 6 * step, GEMM_HIGH(2));
        _mm256_storeu_ps(to + 7 * step, GEMM_HIGH(3));
    } else { /* the panel ends here */
        const __m256i first = tni_avx2_mask32(n);
        _mm256_maskstore_ps(to, first, GEMM_LOW(0));
        _mm256_maskstore_ps(to + step, first, GEMM_LOW(1));
        _mm256_maskstore_ps(to + 2 * step, first, GEMM_LOW(2));
        _mm256_maskstore_ps(to + 3 * step, first, GEMM_LOW(3));
        _mm256_maskstore_ps(to + 4 * step, first, GEMM_HIGH(0));
        _mm256_maskstore_ps(to + 5 * step, first, GEMM_HIGH(1));
        _mm256_maskstore_ps(to + 6 * step, first, GEMM_HIGH(2));
        _mm256_maskstore_ps(to + 7 * step, first, GEMM_HIGH(3));
    }
}
#else
#define GEMM_SIDE 4
/* The same of 4 rows of 4 doubles, in two rounds. */
static void TNI_FNT(gemm_turn)(double *to, int64_t step, const double *const *row, int64_t n) {
    const __m256d x = _mm256_loadu_pd(row[0]), y = _mm256_loadu_pd(row[1]),
                  z = _mm256_loadu_pd(row[2]), w = _mm256_loadu_pd(row[3]);
    const __m256d p = _mm256_unpacklo_pd(x, y), q = _mm256_unpackhi_pd(x, y),
                  r = _mm256_unpacklo_pd(z, w), s = _mm256_unpackhi_pd(z, w);
    const __m256i first = tni_avx2_mask64(n);
    _mm256_maskstore_pd(to, first, _mm256_permute2f128_pd(p, r, 0x20));
    _mm256_maskstore_pd(to + step, first, _mm256_permute2f128_pd(q, s, 0x20));
    _mm256_maskstore_pd(to + 2 * step, first, _mm256_permute2f128_pd(p, r, 0x31));
    _mm256_maskstore_pd(to + 3 * step, first, _mm256_permute2f128_pd(q, s, 0x31));
}
#endif
#else
#define GEMM_SIDE 4
/* The same without shuffles. */
static void TNI_FNT(gemm_turn)(T *to, int64_t step, const T *const *row, int64_t n) {
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < n; j++) to[i * step + j] = row[j][i];
}
#endif

/* to[k][width], k < depth: n lanes `lane` apart in from, rows 1 apart (the transposing case);
 * lanes beyond n are 0 */
static void TNI_FNT(gemm_pack_turned)(T *to, int64_t width, const T *from, int64_t lane, int64_t n,
                                      int64_t depth) {
    static const T zeros[GEMM_SIDE] = {0};
    const T *row[GEMM_SIDE];
    for (int64_t j = 0; j < width; j += GEMM_SIDE) {
        const int64_t lanes = width - j < GEMM_SIDE ? width - j : GEMM_SIDE;
        int64_t k = 0;
        for (; k + GEMM_SIDE <= depth; k += GEMM_SIDE) {
            TNI_ROLLED
            for (int64_t i = 0; i < GEMM_SIDE; i++)
                row[i] = j + i < n ? from + (j + i) * lane + k : zeros; /* a lane beyond n */
            TNI_FNT(gemm_turn)(to + k * width + j, width, row, lanes);
        }
        for (; k < depth; k++)
            TNI_ROLLED
            for (int64_t i = 0; i < lanes; i++)
                to[k * width + j + i] = j + i < n ? from[(j + i) * lane + k] : 0;
    }
}

/* to[k][width], k < depth: n lanes `lane` apart, rows `row` apart in from; lanes beyond n are 0 */
static void TNI_FNT(gemm_pack)(T *to, int64_t width, const T *from, int64_t lane, int64_t row,
                               int64_t n, int64_t depth) {
    if (lane != 1 && row == 1) {
        TNI_KERNEL_PATH(gemm_pack_turned);
        TNI_FNT(gemm_pack_turned)(to, width, from, lane, n, depth);
    } else if (lane != 1) {
        TNI_KERNEL_PATH(gemm_pack_gathered);
        for (int64_t k = 0; k < depth; k++)
            TNI_ROLLED
            for (int64_t i = 0; i < width; i++)
                to[k * width + i] = i < n ? from[k * row + i * lane] : 0;
    } else if (n == GEMM_COLS && width == n) {
        TNI_KERNEL_PATH(gemm_pack_vectors);
        for (int64_t k = 0; k < depth; k++, from += row, to += GEMM_COLS)
            V_ST(to, V_LD(from)), V_ST(to + W, V_LD(from + W));
    } else {
        TNI_KERNEL_PATH(gemm_pack_part);
        for (int64_t k = 0; k < depth; k++, from += row, to += width)
            TNI_ROLLED
            for (int64_t i = 0; i < width; i += W) {
                const int64_t left = n - i, room = width - i;
                const V x = V_LDN(from + i, left < 0 ? 0 : left < W ? left : W);
                V_STN(to + i, x, room < W ? room : W);
            }
    }
}

/* A panel of a: up to GEMM_ROWS rows from i on, over all of k. */
static void TNI_FNT(gemm_pack_a)(const tni_gemm *g, int64_t i, void *to) {
    const int64_t n = g->m - i < GEMM_ROWS ? g->m - i : GEMM_ROWS;
    TNI_FNT(gemm_pack)
    ((T *)to, GEMM_ROWS, (const T *)g->a + i * g->a_row, g->a_row, g->a_col, n, g->k);
}
static int64_t TNI_FNT(gemm_panel)(void) { return GEMM_ROWS; }

/* --- the product ------------------------------------------------------------------------------ */

/* All rows of c in one panel of n columns and one block of k. */
static void TNI_FNT(gemm_column)(const tni_gemm *g, const TNI_FNT(gemm_tiles) * q, const T *a,
                                 const T *b, T *c, int64_t n, bool add) {
    T edge[GEMM_ROWS * GEMM_COLS];
    const int64_t step = g->panel ? 1 : g->a_row, skip = g->panel ? g->panel - GEMM_ROWS : 0;
    if (g->panel)
        TNI_KERNEL_PATH(gemm_panels);
    else
        TNI_KERNEL_PATH(gemm_rows_apart);
    for (int64_t i = 0, h; i < g->m; i += h, c += h * g->c_row) {
        /* a panel is not divided between two tiles of other heights */
        const int64_t left = g->m - i;
        const TNI_FNT(gemm_tile) tile =
            TNI_FNT(gemm_pick)(g->panel && left > GEMM_ROWS ? GEMM_ROWS : left, &h);
        /* a tile writes whole vectors: what is narrower, or lies apart, goes through the stack */
        if (n == GEMM_COLS && g->c_col == 1) {
            tile(q, a, b, c, g->c_row, add);
        } else {
            tile(q, a, b, edge, GEMM_COLS, false);
            TNI_FNT(gemm_edge)(c, g->c_row, g->c_col, edge, h, n, q->alpha, add);
        }
        a += h * step + (h == GEMM_ROWS ? skip : 0);
    }
}

/* Blocks of k outside, panels of b inside: a panel is packed once and serves all rows. */
static void TNI_FNT(gemm)(const tni_gemm *g) {
    static const T zeros[GEMM_ROWS] = {0};
    T panel[TNI_K_BLOCK * GEMM_COLS];
    TNI_FNT(gemm_tiles) q;
    const int64_t span = g->b_row < 0 ? -g->b_row : g->b_row;
    q.a_row = (ptrdiff_t)((g->panel ? 1 : g->a_row) * (int64_t)sizeof(T));
    q.a_col = (ptrdiff_t)((g->panel ? GEMM_ROWS : g->a_col) * (int64_t)sizeof(T));
    q.alpha = (T)g->alpha;
    q.start = zeros;
    for (int64_t k = 0; k < g->k; k += TNI_K_BLOCK) {
        q.k = g->k - k < TNI_K_BLOCK ? g->k - k : (int64_t)TNI_K_BLOCK;
        const T *a = (const T *)g->a + k * (g->panel ? GEMM_ROWS : g->a_col);
        /* rows of vectors may stay where they are, unless they are used often and lie far apart */
        const bool pack =
            g->b_col != 1 || (g->m > 2 * GEMM_ROWS && q.k * span * (int64_t)sizeof(T) > 16384);
        for (int64_t j = 0; j < g->n; j += GEMM_COLS) {
            const int64_t n = g->n - j < GEMM_COLS ? g->n - j : GEMM_COLS;
            const T *b = (const T *)g->b + k * g->b_row + j * g->b_col;
            const bool packed = pack || n < GEMM_COLS;
            if (k > 0) TNI_KERNEL_PATH(gemm_k_blocks);
            if (!packed) TNI_KERNEL_PATH(gemm_b_in_place);
            if (packed) {
                TNI_FNT(gemm_pack)(panel, GEMM_COLS, b, g->b_col, g->b_row, n, q.k);
                b = panel;
            }
            q.b_row = packed ? GEMM_COLS : g->b_row;
            TNI_FNT(gemm_column)(g, &q, a, b, (T *)g->c + j * g->c_col, n, g->add || k > 0);
        }
    }
}

#if TNI_ISA != 2 /* memory sets the speed */
/* m = 1, b_col = c_col = 1, n a multiple of W: rows of b are walked along, four at a time, while
 * the sums of WIDE columns stay in the first cache. Each element's chain is as in the tiles. */
static void TNI_FNT(gemm_row)(const tni_gemm *g) {
    enum { WIDE = 1024 };
    T sum[WIDE];
    const T *a = (const T *)g->a;
    const int64_t s = g->a_col, r = g->b_row;
    for (int64_t j = 0; j < g->n; j += WIDE)
        for (int64_t k0 = 0; k0 < g->k; k0 += TNI_K_BLOCK) {
            const int64_t n = g->n - j < WIDE ? g->n - j : (int64_t)WIDE,
                          k1 = g->k - k0 < TNI_K_BLOCK ? g->k : k0 + TNI_K_BLOCK;
            T *c = (T *)g->c + j;
            int64_t k = k0;
            for (int64_t i = 0; i < n; i += W) V_ST(sum + i, V_ZERO());
            TNI_KERNEL_PATH(gemm_row);
            if (k0 > 0) TNI_KERNEL_PATH(gemm_row_k_blocks);
            for (; k + 4 <= k1; k += 4) {
                const T *b = (const T *)g->b + k * r + j;
                const V w = V_SET(a[k * s]), x = V_SET(a[(k + 1) * s]), y = V_SET(a[(k + 2) * s]),
                        z = V_SET(a[(k + 3) * s]);
                for (int64_t i = 0; i < n; i += W, b += W) {
                    const V t = V_FMA(x, V_LD(b + r), V_FMA(w, V_LD(b), V_LD(sum + i)));
                    V_ST(sum + i, V_FMA(z, V_LD(b + 3 * r), V_FMA(y, V_LD(b + 2 * r), t)));
                }
            }
            for (; k < k1; k++) {
                const T *b = (const T *)g->b + k * r + j;
                const V x = V_SET(a[k * s]);
                for (int64_t i = 0; i < n; i += W)
                    V_ST(sum + i, V_FMA(x, V_LD(b + i), V_LD(sum + i)));
            }
            const V f = V_SET(g->alpha);
            for (int64_t i = 0; i < n; i += W) {
                const V t = V_LD(sum + i);
                V_ST(c + i, g->add || k0 > 0 ? V_FMA(t, f, V_LD(c + i)) : t);
            }
        }
}
#endif

/* m = 1, b_row = c_col = 1, n a multiple of 16: columns of b lie along k, GEMM_SIDE numbers of
 * each are turned at a time (without shuffles: one by one). Chains of two groups of columns run
 * side by side. */
#if TNI_ISA == 1
#define GEMM_CHAIN(i)    \
    x = V_SET(a[(i)*s]); \
    p = V_FMA(x, V_LD(turned + (i)*W), p), q = V_FMA(x, V_LD(turned + (2 * W + (i)) * W), q);
#if defined(TNI_TYPE_F32)
#define GEMM_CHAINS(i)                                                                        \
    GEMM_CHAIN(i)                                                                             \
    GEMM_CHAIN(i + 1)                                                                         \
    GEMM_CHAIN(i + 2) GEMM_CHAIN(i + 3) GEMM_CHAIN(i + 4) GEMM_CHAIN(i + 5) GEMM_CHAIN(i + 6) \
        GEMM_CHAIN(i + 7)
#else
#define GEMM_CHAINS(i) GEMM_CHAIN(i) GEMM_CHAIN(i + 1) GEMM_CHAIN(i + 2) GEMM_CHAIN(i + 3)
#endif
/* One block of k of 2 W columns, 2 W numbers of each at a time: whole cache lines, since many
 * columns may share a set of the cache. */
static void TNI_FNT(gemm_column_run)(const tni_gemm *g, int64_t j, int64_t k0, int64_t k1) {
    const int64_t s = g->a_col, step = g->b_col;
    const T *a = (const T *)g->a + k0 * s, *b = (const T *)g->b + j * step + k0, *row[2 * W],
            *next[2 * W];
    T turned[4 * W * W], *c = (T *)g->c + j;
    V p = V_ZERO(), q = V_ZERO(), x;
    int64_t k = k0;
    for (int i = 0; i < 2 * W; i++) row[i] = b + i * step, next[i] = row[i] + W;
    TNI_KERNEL_PATH(gemm_column_run);
    if (k0 > 0) TNI_KERNEL_PATH(gemm_column_k_blocks);
    if ((k1 - k0) % (2 * W)) TNI_KERNEL_PATH(gemm_column_tail);
    for (; k + 2 * W <= k1; k += 2 * W, a += 2 * W * s) {
        TNI_FNT(gemm_turn)(turned, W, row, W);
        TNI_FNT(gemm_turn)(turned + W * W, W, next, W);
        TNI_FNT(gemm_turn)(turned + 2 * W * W, W, row + W, W);
        TNI_FNT(gemm_turn)(turned + 3 * W * W, W, next + W, W);
        GEMM_CHAINS(0)
        GEMM_CHAINS(W) for (int i = 0; i < 2 * W; i++) row[i] += 2 * W, next[i] += 2 * W;
    }
    for (; k < k1; k++, a += s) {
        for (int i = 0; i < W; i++) turned[i] = *row[i]++, turned[2 * W * W + i] = *row[W + i]++;
        GEMM_CHAIN(0)
    }
    x = V_SET(g->alpha);
    V_ST(c, g->add || k0 > 0 ? V_FMA(p, x, V_LD(c)) : p);
    V_ST(c + W, g->add || k0 > 0 ? V_FMA(q, x, V_LD(c + W)) : q);
}
#undef GEMM_CHAINS
#undef GEMM_CHAIN
static void TNI_FNT(gemm_column_major)(const tni_gemm *g) {
    for (int64_t j = 0; j < g->n; j += 2 * W)
        for (int64_t k = 0; k < g->k; k += TNI_K_BLOCK)
            TNI_FNT(gemm_column_run)(g, j, k, g->k - k < TNI_K_BLOCK ? g->k : k + TNI_K_BLOCK);
}
#elif TNI_ISA != 2
static void TNI_FNT(gemm_column_major)(const tni_gemm *g) { TNI_FNT(gemm)(g); }
#endif

#if TNI_ISA == 0
/* m = n = 1: the chains of eight blocks at a time run side by side, as one fma waits for the one
 * before; the blocks are added in rising order as ever. */
#define GEMM_DOT(i) \
    s##i = V_FMA(a[(k + i * TNI_K_BLOCK) * g->a_col], b[(k + i * TNI_K_BLOCK) * g->b_row], s##i);
static TNI_NOINLINE void TNI_FNT(gemm_dot_long)(const tni_gemm *g) {
    const T *a = (const T *)g->a, *b = (const T *)g->b, alpha = (T)g->alpha;
    T *c = (T *)g->c;
    int64_t done = 0;
    bool add = g->add;
    while (done < g->k) {
        T s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
        const int64_t left = g->k - done;
        if (left >= 8 * TNI_K_BLOCK) {
            TNI_KERNEL_PATH(gemm_dot_eight);
            for (int64_t k = 0; k < TNI_K_BLOCK; k++) {
                GEMM_DOT(0)
                GEMM_DOT(1) GEMM_DOT(2) GEMM_DOT(3) GEMM_DOT(4) GEMM_DOT(5) GEMM_DOT(6) GEMM_DOT(7)
            }
            const T s[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
            for (int i = 0; i < 8; i++, add = true) *c = add ? V_FMA(s[i], alpha, *c) : s[i];
            a += 8 * TNI_K_BLOCK * g->a_col;
            b += 8 * TNI_K_BLOCK * g->b_row;
            done += 8 * TNI_K_BLOCK;
            continue;
        }
        const int64_t n = left < TNI_K_BLOCK ? left : (int64_t)TNI_K_BLOCK;
        TNI_KERNEL_PATH(gemm_dot_one);
        for (int64_t k = 0; k < n; k++) {
            GEMM_DOT(0)
        }
        *c = add ? V_FMA(s0, alpha, *c) : s0;
        add = true;
        a += n * g->a_col;
        b += n * g->b_row;
        done += n;
    }
}
/* One block: a single chain. */
static void TNI_FNT(gemm_dot)(const tni_gemm *g) {
    const T *a = (const T *)g->a, *b = (const T *)g->b;
    T *c = (T *)g->c, s = 0;
    if (g->k <= 0 || g->k > TNI_K_BLOCK) {
        TNI_FNT(gemm_dot_long)(g);
        return;
    }
    TNI_KERNEL_PATH(gemm_dot_short);
    for (int64_t k = 0; k < g->k; k++) s = V_FMA(a[k * g->a_col], b[k * g->b_row], s);
    *c = g->add ? V_FMA(s, (T)g->alpha, *c) : s;
}
#undef GEMM_DOT
#endif

#undef GEMM_PAIR
#undef GEMM_QUAD
#undef GEMM_LOW
#undef GEMM_HIGH
#undef GEMM_SIDE

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
