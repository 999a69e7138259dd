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
 * at two vectors, start + r start_row and start_next behind it. Beside the chains low tiles ask
 * for a line of memory from `soon` on for each k: `line` bytes further each time, and `jump` bytes
 * after `lines` lines. */
typedef struct TNI_FNT(gemm_tiles) {
    ptrdiff_t a_row, a_col;
    int64_t b_row, k;
    uintptr_t soon, line, jump;
    int64_t lines;
    const T *start;
    int64_t start_row, start_next;
    T alpha;
} TNI_FNT(gemm_tiles);

typedef void (*TNI_FNT(gemm_tile))(const TNI_FNT(gemm_tiles) * q, const T *a, const T *b, T *c,
                                   int64_t c_row, bool add);
GEMM_TILE(1, GEMM_R1, GEMM_AHEAD)
GEMM_TILE(4, GEMM_R4, GEMM_AHEAD)
#if TNI_ISA > 0
GEMM_TILE(2, GEMM_R2, GEMM_AHEAD)
#endif
#if TNI_ISA == 1
GEMM_TILE(3, GEMM_R3, GEMM_AHEAD)
GEMM_TILE(5, GEMM_R5, GEMM_HERE)
GEMM_TILE(6, GEMM_R6, GEMM_HERE)
#elif TNI_ISA == 2 || TNI_ISA == 3
GEMM_TILE(8, GEMM_R8, GEMM_HERE)
#endif
#if TNI_ISA == 2
GEMM_TILE(14, GEMM_R14, GEMM_HERE)
#endif

/* The tile that m rows begin with; *h is its height. The tallest that fits, but a lower one where
 * the rows then take less time: one of up to 4 rows takes as long as one of 4. */
TNI_INLINE TNI_FNT(gemm_tile) TNI_FNT(gemm_pick)(int64_t m, int64_t *h) {
#if TNI_ISA == 1
    if (m == 9 || m == 13 || m == 5) return *h = 5, TNI_FNT(gemm_tile5);
    if (m == 7 || m == 8) return *h = 4, TNI_FNT(gemm_tile4);
#elif TNI_ISA == 2
    if (m == 16) return *h = 8, TNI_FNT(gemm_tile8);
#endif
    if (m >= GEMM_ROWS) return *h = GEMM_ROWS, GEMM_FULL;
#if TNI_ISA == 2
    if (m >= 8) return *h = 8, TNI_FNT(gemm_tile8);
#endif
    if (m >= 4) return *h = 4, TNI_FNT(gemm_tile4);
#if TNI_ISA == 1
    if (m == 3) return *h = 3, TNI_FNT(gemm_tile3);
#endif
#if TNI_ISA > 0
    if (m >= 2) return *h = 2, TNI_FNT(gemm_tile2);
#endif
    return *h = 1, TNI_FNT(gemm_tile1);
}

/* Nothing is asked for but a line that is there. */
TNI_INLINE void TNI_FNT(gemm_alone)(TNI_FNT(gemm_tiles) * q) {
    q->soon = (uintptr_t)q;
    q->line = q->jump = 0;
    q->lines = 0;
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

#if TNI_ISA == 2 /* shuffles of 256 bits */
#define gemm_pack_turned_f32_avx512 gemm_pack_turned_f32_avx2
#define gemm_pack_turned_f64_avx512 gemm_pack_turned_f64_avx2
#elif TNI_ISA > 0
#if TNI_ISA == 1 && defined(TNI_TYPE_F32)
#define GEMM_SIDE 8
#else
#define GEMM_SIDE 4
#endif
#if TNI_ISA == 1
/* GEMM_SQUARE: GEMM_PUT_LANES(k, x) for each k < GEMM_SIDE; x is number k of as many lanes. */
#if defined(TNI_TYPE_F32)
#define GEMM_V __m256
#define GEMM_STORE _mm256_storeu_ps
/* Four numbers of lane i, and of lane i + 4 in the upper half. */
#define GEMM_HALVES(from, lane, i)                                   \
    _mm256_insertf128_ps(                                            \
        _mm256_castps128_ps256(_mm_loadu_ps((from) + (i) * (lane))), \
        _mm_loadu_ps((from) + ((i) + 4) * (lane)), 1)
#define GEMM_FOUR(k, from, lane)                             \
    s0 = GEMM_HALVES((from) + (k), lane, 0);                 \
    s1 = GEMM_HALVES((from) + (k), lane, 1);                 \
    s2 = GEMM_HALVES((from) + (k), lane, 2);                 \
    s3 = GEMM_HALVES((from) + (k), lane, 3);                 \
    s4 = _mm256_unpacklo_ps(s0, s1);                         \
    s0 = _mm256_unpackhi_ps(s0, s1);                         \
    s1 = _mm256_unpacklo_ps(s2, s3);                         \
    s2 = _mm256_unpackhi_ps(s2, s3);                         \
    GEMM_PUT_LANES(k, _mm256_shuffle_ps(s4, s1, 0x44))       \
    GEMM_PUT_LANES((k) + 1, _mm256_shuffle_ps(s4, s1, 0xee)) \
    GEMM_PUT_LANES((k) + 2, _mm256_shuffle_ps(s0, s2, 0x44)) \
    GEMM_PUT_LANES((k) + 3, _mm256_shuffle_ps(s0, s2, 0xee))
#define GEMM_SQUARE(from, lane) \
    GEMM_FOUR(0, from, lane)    \
    GEMM_FOUR(4, from, lane)
#else
#define GEMM_V __m256d
#define GEMM_STORE _mm256_storeu_pd
#define GEMM_SQUARE(from, lane)                             \
    s0 = _mm256_loadu_pd(from);                             \
    s1 = _mm256_loadu_pd((from) + (lane));                  \
    s2 = _mm256_loadu_pd((from) + 2 * (lane));              \
    s3 = _mm256_loadu_pd((from) + 3 * (lane));              \
    s4 = _mm256_unpacklo_pd(s0, s1);                        \
    s0 = _mm256_unpackhi_pd(s0, s1);                        \
    s1 = _mm256_unpacklo_pd(s2, s3);                        \
    s2 = _mm256_unpackhi_pd(s2, s3);                        \
    GEMM_PUT_LANES(0, _mm256_permute2f128_pd(s4, s1, 0x20)) \
    GEMM_PUT_LANES(1, _mm256_permute2f128_pd(s0, s2, 0x20)) \
    GEMM_PUT_LANES(2, _mm256_permute2f128_pd(s4, s1, 0x31)) \
    GEMM_PUT_LANES(3, _mm256_permute2f128_pd(s0, s2, 0x31))
#endif
#endif

/* to[depth][step] = the transpose of GEMM_SIDE lanes; depth is a multiple of GEMM_SIDE. What is
 * stored beyond a step is for the next row, or for the caller, to overwrite. */
static void TNI_FNT(gemm_turn)(T *to, int64_t step, const T *from, int64_t lane, int64_t depth) {
    for (int64_t k = 0; k < depth; k += GEMM_SIDE, from += GEMM_SIDE, to += GEMM_SIDE * step) {
#if TNI_ISA == 1
        GEMM_V s0, s1, s2, s3, s4;
#define GEMM_PUT_LANES(i, x) GEMM_STORE(to + (i)*step, x);
        GEMM_SQUARE(from, lane)
#undef GEMM_PUT_LANES
#else
        for (int64_t i = 0; i < GEMM_SIDE; i++)
            for (int64_t j = 0; j < GEMM_SIDE; j++) to[i * step + j] = from[j * lane + i];
#endif
    }
}

#if TNI_ISA != 2
/* Squares, then what they leave of each lane, and of all lanes. */
static void TNI_FNT(turn)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n,
                          int64_t depth) {
    T *t = (T *)to;
    const T *f = (const T *)from;
    const int64_t whole = depth / GEMM_SIDE * GEMM_SIDE, lanes = n / GEMM_SIDE * GEMM_SIDE;
    if (whole > 0 && lanes > 0) TNI_KERNEL_PATH(turn_squares);
    for (int64_t i = 0; i < lanes; i += GEMM_SIDE)
        TNI_FNT(gemm_turn)(t + i, to_step, f + i * from_step, from_step, whole);
    for (int64_t i = 0; i < n; i++, f += from_step)
        for (int64_t k = i < lanes ? whole : 0; k < depth; k++)
            memcpy(t + k * to_step + i, f + k, sizeof(T));
}
#endif

#define GEMM_SOME 64 /* numbers of a lane that are turned at a time where lanes are missing */
/* to[k][width], k < depth: n lanes `lane` apart in from, rows 1 apart (the transposing case);
 * lanes beyond n are 0 */
static void TNI_FNT(gemm_pack_turned)(T *to, int64_t width, const T *from, int64_t lane, int64_t n,
                                      int64_t depth) {
    T some[GEMM_SIDE * GEMM_SOME];
    /* From the last lanes to the first: squares that are wider than what is left of the panel reach
     * into its next row, of which there is one. */
    for (int64_t j = (width - 1) / GEMM_SIDE * GEMM_SIDE; j >= 0; j -= GEMM_SIDE) {
        const int64_t lanes = width - j < GEMM_SIDE ? width - j : GEMM_SIDE,
                      there = n - j < 0 ? 0 : n - j < GEMM_SIDE ? n - j : GEMM_SIDE,
                      whole = (depth - (lanes < GEMM_SIDE)) / GEMM_SIDE * GEMM_SIDE;
        const T *at = from + j * lane;
        if (there == GEMM_SIDE) TNI_FNT(gemm_turn)(to + j, width, at, lane, whole);
        /* Squares that lack lanes are filled up. */
        for (int64_t k = 0; k < whole && there < GEMM_SIDE; k += GEMM_SOME) {
            const int64_t length = whole - k < GEMM_SOME ? whole - k : GEMM_SOME;
            memset(some, 0, sizeof some);
            for (int64_t i = 0; i < there; i++)
                memcpy(some + i * GEMM_SOME, at + i * lane + k, (size_t)length * sizeof(T));
            TNI_FNT(gemm_turn)(to + k * width + j, width, some, GEMM_SOME, length);
        }
        for (int64_t k = whole; k < depth; k++)
            TNI_ROLLED
            for (int64_t i = 0; i < lanes; i++)
                to[k * width + j + i] = i < there ? at[i * lane + k] : 0;
    }
}

#endif
#if TNI_ISA == 0
static void TNI_FNT(turn)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n,
                          int64_t depth) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < depth; k++)
            memcpy((T *)to + k * to_step + i, (const T *)from + i * from_step + k, sizeof(T));
}
#endif
/* to[k][width], k < depth: n lanes `lane` apart, rows `row` apart in from; lanes beyond n are 0 */
static void TNI_FNT(gemm_pack)(T *to, int64_t width, const T *from, int64_t lane, int64_t row,
                               int64_t n, int64_t depth) {
#if TNI_ISA > 0
    if (lane != 1 && row == 1) {
        TNI_KERNEL_PATH(gemm_pack_turned);
        TNI_FNT(gemm_pack_turned)(to, width, from, lane, n, depth);
        return;
    }
#endif
    if (lane != 1) {
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
    enum { FEW = 48 }; /* rows */
    T edge[GEMM_ROWS * GEMM_COLS];
    /* the first tile asks for what comes next, where that is a large part of the work */
    const bool ahead = !g->panel && q->lines && g->m <= FEW;
    const int64_t step = g->panel ? 1 : g->a_row, skip = g->panel ? g->panel - GEMM_ROWS : 0;
    if (g->panel)
        TNI_KERNEL_PATH(gemm_panels);
    else
        TNI_KERNEL_PATH(gemm_rows_apart);
    for (int64_t i = 0, h; i < g->m; i += h, c += h * g->c_row) {
        /* a panel is not divided between two tiles of other heights */
        const int64_t left = g->m - i, most = i == 0 && ahead ? 4 : g->panel ? GEMM_ROWS : left;
        const TNI_FNT(gemm_tile) tile = TNI_FNT(gemm_pick)(left < most ? left : most, &h);
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

/* Blocks of k outside, panels of b inside: a panel is packed once and serves all rows. Lanes of b
 * are read once: while a panel of them is multiplied, the next one comes from memory, which sets
 * the speed where there are few rows. */
static void TNI_FNT(gemm)(const tni_gemm *g) {
    static const T zeros[GEMM_COLS] = {0};
    enum { LINE = 64 }; /* bytes */
    T panel[TNI_K_BLOCK * GEMM_COLS], start[GEMM_COLS];
    TNI_FNT(gemm_tiles) q;
    const int64_t span = g->b_row < 0 ? -g->b_row : g->b_row;
    q.a_row = (ptrdiff_t)((g->panel ? 1 : g->a_row) * (int64_t)sizeof(T));
    q.a_col = (ptrdiff_t)((g->panel ? GEMM_ROWS : g->a_col) * (int64_t)sizeof(T));
    const uintptr_t lane = (uintptr_t)g->b_col * sizeof(T);
    q.alpha = (T)g->alpha;
    q.start_row = 0;
    q.start_next = W;
    TNI_FNT(gemm_alone)(&q);
    for (int64_t k = 0; k < g->k; k += TNI_K_BLOCK) {
        const uintptr_t at = (uintptr_t)g->b + (uintptr_t)(k * g->b_row) * sizeof(T);
        q.k = g->k - k < TNI_K_BLOCK ? g->k - k : (int64_t)TNI_K_BLOCK;
        if (TNI_ISA > 0 && g->b_row == 1) {
            q.line = LINE;
            q.lines = q.k * (int64_t)sizeof(T) / LINE;
            q.jump = lane - (uintptr_t)q.lines * LINE;
        }
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
            q.start = zeros;
            if (g->start && k == 0) {
                TNI_KERNEL_PATH(gemm_start);
                for (int64_t i = 0; i < GEMM_COLS; i++)
                    start[i] = i < n ? ((const T *)g->start)[j + i] : 0;
                q.start = start;
            }
            q.b_row = packed ? GEMM_COLS : g->b_row;
            q.soon = at + (uintptr_t)(g->n - j > GEMM_COLS ? j + GEMM_COLS : j) * lane;
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

/* m = 1, b_row = c_col = 1, n a multiple of 16: columns of b lie along k, squares of GEMM_SIDE
 * numbers of each are turned (without shuffles: one by one). Chains of two groups of columns run
 * side by side. */
#if TNI_ISA == 1
/* One block of k of 2 W columns, 2 W numbers of each at a time: whole cache lines, since many
 * columns may share a set of the cache. */
static void TNI_FNT(gemm_column_run)(const tni_gemm *g, int64_t j, int64_t k0, int64_t k1) {
    const int64_t s = g->a_col, lane = g->b_col;
    const T *a = (const T *)g->a + k0 * s, *b = (const T *)g->b + j * lane + k0;
    T *c = (T *)g->c + j, turned[2 * W];
    V p = V_ZERO(), q = V_ZERO(), s0, s1, s2, s3, s4;
    int64_t k = k0;
    TNI_KERNEL_PATH(gemm_column_run);
    if (k0 > 0) TNI_KERNEL_PATH(gemm_column_k_blocks);
    if ((k1 - k0) % (2 * W)) TNI_KERNEL_PATH(gemm_column_tail);
    for (; k + 2 * W <= k1; k += 2 * W)
        for (int half = 0; half < 2; half++, a += W * s, b += W) {
#define GEMM_PUT_LANES(i, x) p = V_FMA(V_SET(a[(i)*s]), x, p);
            GEMM_SQUARE(b, lane)
#undef GEMM_PUT_LANES
#define GEMM_PUT_LANES(i, x) q = V_FMA(V_SET(a[(i)*s]), x, q);
            GEMM_SQUARE(b + W * lane, lane)
#undef GEMM_PUT_LANES
        }
    for (; k < k1; k++, a += s, b++) {
        for (int i = 0; i < 2 * W; i++) turned[i] = b[i * lane];
        p = V_FMA(V_SET(*a), V_LD(turned), p), q = V_FMA(V_SET(*a), V_LD(turned + W), q);
    }
    const V x = V_SET(g->alpha);
    V_ST(c, g->add || k0 > 0 ? V_FMA(p, x, V_LD(c)) : p);
    V_ST(c + W, g->add || k0 > 0 ? V_FMA(q, x, V_LD(c + W)) : q);
}
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

#undef GEMM_SIDE
#undef GEMM_SOME
#undef GEMM_V
#undef GEMM_STORE
#undef GEMM_SQUARE
#undef GEMM_FOUR
#undef GEMM_HALVES

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
