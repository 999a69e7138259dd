/* conv_type.inl - convolution for one element type of one instruction set (conv.h).
 *
 * The product of weights (m, k) and patches (k, pixels), by the tiles of gemm_type.inl. Patches are
 * never stored: for GEMM_COLS pixels they are packed into a panel, and pixels that lie in a row of
 * the picture lie in a row of the source as well, so pieces of rows are copied. */
#if defined(__GNUC__) && !defined(__clang__) /* half the compile time, the same loops */
#pragma GCC push_options
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#endif

/* A piece of a row of pixels: where it begins in source and c, its first lane, its length. */
typedef struct TNI_FNT(conv_piece) {
    int64_t source, c, lane, n;
} TNI_FNT(conv_piece);

/* The n pixels from `pixel` on as pieces; their number. */
static int TNI_FNT(conv_pieces)(const tni_conv *v, int64_t pixel, int64_t n,
                                TNI_FNT(conv_piece) * piece) {
    int count = 0;
    int64_t x = pixel % v->width, line = pixel / v->width, y = line % v->height,
            image = line / v->height;
    for (int64_t lane = 0; lane < n; count++) {
        const int64_t left = v->width - x, take = left < n - lane ? left : n - lane;
        piece[count].source = image * v->image_step + y * v->pitch + x;
        piece[count].c = image * v->c_image + y * v->c_line + x * v->c_col;
        piece[count].lane = lane;
        piece[count].n = take;
        lane += take;
        x = 0; /* the next piece begins a line */
        if (++y == v->height) {
            y = 0;
            image++;
        }
    }
    return count;
}

/* panel[k][GEMM_COLS], an element at a time: where a vector might reach beyond the source. */
static void TNI_FNT(conv_pack_slow)(T *to, const tni_conv *v, const int64_t *offset, int64_t depth,
                                    const TNI_FNT(conv_piece) * piece, int pieces) {
    TNI_KERNEL_PATH(conv_pack_slow);
    for (int64_t k = 0; k < depth; k++, to += GEMM_COLS)
        for (int i = 0; i < pieces; i++)
            for (int64_t j = 0; j < piece[i].n; j++)
                to[piece[i].lane + j] = ((const T *)v->source)[offset[k] + piece[i].source + j];
}

#if TNI_ISA > 0
#define CONV_COPY(i) V_ST(to + lane[i], V_LD(from[i] + offset[k]));
#define CONV_COPIES(copies)                                \
    for (int64_t k = 0; k < depth; k++, to += GEMM_COLS) { \
        copies                                             \
    }

/* The same by whole vectors: what one writes too much is overwritten by the next, by the next
 * piece or row; the panel has room for the last. */
static void TNI_FNT(conv_pack)(T *to, const tni_conv *v, const int64_t *offset, int64_t depth,
                               const TNI_FNT(conv_piece) * piece, int pieces) {
    const T *from[GEMM_COLS + 3];
    int64_t lane[GEMM_COLS + 3];
    int n = 0;
    for (int i = 0; i < pieces; i++)
        for (int64_t j = 0; j < piece[i].n; j += W, n++)
            from[n] = (const T *)v->source + piece[i].source + j, lane[n] = piece[i].lane + j;
    /* the common numbers of copies are unrolled */
    if (n == 2) {
        TNI_KERNEL_PATH(conv_pack_2);
        CONV_COPIES(CONV_COPY(0) CONV_COPY(1))
    } else if (n == 3) {
        TNI_KERNEL_PATH(conv_pack_3);
        CONV_COPIES(CONV_COPY(0) CONV_COPY(1) CONV_COPY(2))
    } else if (n == 4) {
        TNI_KERNEL_PATH(conv_pack_4);
        CONV_COPIES(CONV_COPY(0) CONV_COPY(1) CONV_COPY(2) CONV_COPY(3))
    } else {
        TNI_KERNEL_PATH(conv_pack_more);
        CONV_COPIES(for (int i = 0; i < n; i++) CONV_COPY(i))
    }
}
#undef CONV_COPY
#undef CONV_COPIES
#endif

/* Rows of a finished tile to the pieces of c. */
static void TNI_FNT(conv_scatter)(const tni_conv *v, const T *tile, T *c, int64_t h,
                                  const TNI_FNT(conv_piece) * piece, int pieces, bool add) {
    for (int i = 0; i < pieces; i++)
        TNI_FNT(gemm_edge)
        (c + piece[i].c, v->c_row, v->c_col, tile + piece[i].lane, h, piece[i].n, 1, add);
}

/* All rows of c for one group of pixels and one block of k. */
static void TNI_FNT(conv_group)(const tni_conv *v, TNI_FNT(gemm_tiles) *q, int64_t k,
                                const T *panel, const TNI_FNT(conv_piece) * piece, int pieces,
                                bool whole) {
    static const T zeros[W] = {0};
    T tile[GEMM_ROWS * GEMM_COLS], start[GEMM_ROWS * W], *c = (T *)v->c;
    const bool biased = k == 0 && v->bias;
    q->start = biased ? start : zeros;
    q->start_row = biased ? W : 0;
    q->start_next = 0;
    const T *a = (const T *)v->a + k;
    for (int64_t i = 0, h; i < v->m; i += h, a += h * v->k, c += h * v->c_row) {
        const TNI_FNT(gemm_tile) run = TNI_FNT(gemm_pick)(v->m - i, &h);
        /* the bias begins the chains of the first block */
        for (int64_t r = 0; r < h && biased; r++)
            V_ST(start + r * W, V_SET(((const T *)v->bias)[i + r]));
        if (whole) {
            TNI_KERNEL_PATH(conv_store_whole);
            run(q, a, panel, c + piece[0].c, v->c_row, k > 0);
        } else {
            TNI_KERNEL_PATH(conv_store_pieces);
            run(q, a, panel, tile, GEMM_COLS, false);
            TNI_FNT(conv_scatter)(v, tile, c, h, piece, pieces, k > 0);
        }
    }
}

/* Blocks of k outside, groups of pixels inside, as in gemm. */
static void TNI_FNT(conv)(const tni_conv *v) {
    T panel[(TNI_K_BLOCK + 1) * GEMM_COLS];
    TNI_FNT(conv_piece) piece[GEMM_COLS];
    const T *end = (const T *)v->source_end - W; /* of where a vector may begin */
    (void)end;
    TNI_FNT(gemm_tiles) q;
    q.a_row = (ptrdiff_t)(v->k * (int64_t)sizeof(T));
    q.a_col = (ptrdiff_t)sizeof(T);
    q.b_row = GEMM_COLS;
    q.alpha = 1;
    TNI_FNT(gemm_alone)(&q);
    for (int64_t k = 0; k < v->k; k += TNI_K_BLOCK) {
        q.k = v->k - k < TNI_K_BLOCK ? v->k - k : (int64_t)TNI_K_BLOCK;
        for (int64_t at = 0; at < v->count; at += GEMM_COLS) {
            const int64_t n = v->count - at < GEMM_COLS ? v->count - at : GEMM_COLS;
            const int pieces = TNI_FNT(conv_pieces)(v, v->first + at, n, piece);
            const TNI_FNT(conv_piece) *last = &piece[pieces - 1]; /* in one run of c? */
            const bool whole =
                n == GEMM_COLS && v->c_col == 1 && last->c - piece[0].c == last->lane;
            if (k > 0) TNI_KERNEL_PATH(conv_k_blocks);
            /* lanes beyond the last pixel are computed and not stored: zeros, not what lay there */
            if (n < GEMM_COLS)
                for (int64_t i = 0; i < q.k * GEMM_COLS; i += W) V_ST(panel + i, V_ZERO());
#if TNI_ISA > 0
            int64_t reach = 0;
            for (int i = 0; i < pieces; i++)
                if (piece[i].source + piece[i].n > reach) reach = piece[i].source + piece[i].n;
            if ((const T *)v->source + v->reach + reach <= end)
                TNI_FNT(conv_pack)(panel, v, v->offset + k, q.k, piece, pieces);
            else
#endif
                TNI_FNT(conv_pack_slow)(panel, v, v->offset + k, q.k, piece, pieces);
            TNI_FNT(conv_group)(v, &q, k, panel, piece, pieces, whole);
        }
    }
}

#if TNI_ISA != 2 /* memory sets the speed of these: AVX-512 takes those of AVX2 */
/* Rows of n elements, to_step and from_step apart. */
static void TNI_FNT(conv_rows)(void *to, int64_t to_step, const void *from, int64_t from_step,
                               int64_t rows, int64_t n) {
    T *p = (T *)to;
    const T *q = (const T *)from;
    for (int64_t r = 0; r < rows; r++, p += to_step, q += from_step) {
        int64_t i = 0;
        for (; i + W <= n; i += W) V_ST(p + i, V_LD(q + i));
        if (i < n && i > 0) /* the last vector overlaps the one before */
            V_ST(p + n - W, V_LD(q + n - W));
        else
            for (; i < n; i++) p[i] = q[i];
    }
}

/* Few rows of weights: packing would not pay. first and count are whole lines here: four vectors of
 * a row of pixels at a time, each lane a chain over k as in the tiles. */
static void TNI_FNT(conv_direct)(const tni_conv *v) {
    for (int64_t line = v->first / v->width, end = line + v->count / v->width; line < end; line++)
        for (int64_t i = 0; i < v->m; i++) {
            const T *from = (const T *)v->source + line / v->height * v->image_step +
                            line % v->height * v->pitch;
            const T *a = (const T *)v->a + i * v->k;
            T *c = (T *)v->c + line / v->height * v->c_image + i * v->c_row +
                   line % v->height * v->c_line;
            const V start = V_SET(v->bias ? ((const T *)v->bias)[i] : 0);
            for (int64_t x = 0; x < v->width; x += 4 * W) {
                T row[4 * W];
                V p = start, q = start, r = start, s = start;
                const int64_t n = v->width - x < 4 * W ? v->width - x : 4 * W;
                for (int64_t k = 0; k < v->k; k++) {
                    const T *b = from + v->offset[k] + x;
                    const V w = V_SET(a[k]);
                    p = V_FMA(w, V_LD(b), p);
                    q = V_FMA(w, V_LD(b + W), q);
                    r = V_FMA(w, V_LD(b + 2 * W), r);
                    s = V_FMA(w, V_LD(b + 3 * W), s);
                }
                if (n == 4 * W && v->c_col == 1) {
                    TNI_KERNEL_PATH(conv_direct_whole);
                    V_ST(c + x, p);
                    V_ST(c + x + W, q);
                    V_ST(c + x + 2 * W, r);
                    V_ST(c + x + 3 * W, s);
                    continue;
                }
                TNI_KERNEL_PATH(conv_direct_part);
                V_ST(row, p);
                V_ST(row + W, q);
                V_ST(row + 2 * W, r);
                V_ST(row + 3 * W, s);
                for (int64_t j = 0; j < n; j++) c[(x + j) * v->c_col] = row[j];
            }
        }
}
#endif

#if TNI_ISA != 2
/* Whole lines, as conv_direct: a vector of channels of four pixels at a time. Beyond the end of a
 * line its last pixel is computed again, and the last vector of channels may overlap. */
static void TNI_FNT(conv_depth)(const tni_conv *v) {
    const T *bias = (const T *)v->bias;
    for (int64_t i = v->first; i < v->first + v->count; i += 4) {
        const int64_t x = i % v->width, line = i / v->width, left = v->width - 1 - x;
        const int64_t one = left < 1 ? left : 1, two = left < 2 ? left : 2,
                      three = left < 3 ? left : 3;
        const T *from = (const T *)v->source + line / v->height * v->image_step +
                        line % v->height * v->pitch + x * v->pixel;
        T *to = (T *)v->c + line / v->height * v->c_image + line % v->height * v->c_line +
                x * v->c_col;
        for (int64_t m = 0; m < v->m; m += W) {
            const int64_t at = m + W <= v->m ? m : v->m - W;
            const T *a = (const T *)v->a + at;
            T *c = to + at;
            V p = bias ? V_LD(bias + at) : V_ZERO(), q = p, r = p, s = p;
            for (int64_t k = 0; k < v->k; k++, a += v->m) {
                const T *b = from + v->offset[k] + at;
                const V w = V_LD(a);
                p = V_FMA(w, V_LD(b), p);
                q = V_FMA(w, V_LD(b + one * v->pixel), q);
                r = V_FMA(w, V_LD(b + two * v->pixel), r);
                s = V_FMA(w, V_LD(b + three * v->pixel), s);
            }
            V_ST(c, p);
            V_ST(c + one * v->c_col, q);
            V_ST(c + two * v->c_col, r);
            V_ST(c + three * v->c_col, s);
        }
        if (left < 3) i += left - 3; /* the next line begins */
    }
}
#endif

/* --- gradient of weights ---------------------------------------------------------------------- */

/* w (rows; GEMM_COLS) += sum over pixels of source (pixel; offset[row]) grad (pixel; GEMM_COLS): h
 * rows in registers, two vectors each, while the pixels pass. */
#define CONV_ROW(r) const T *p##r = (const T *)v->source + offset[r];
#define CONV_STEP(r)     \
    x = V_SET(p##r[at]); \
    s##r = V_FMA(x, y, s##r), t##r = V_FMA(x, z, t##r);
#define CONV_ZERO(r) V s##r = V_ZERO(), t##r = V_ZERO();

#define CONV_WEIGHT(h, ROWS)                                                                       \
    static void TNI_FNT(conv_weight##h)(const tni_conv_weight *v, const int64_t *offset, T *c) {   \
        const T *b = (const T *)v->grad;                                                           \
        const int64_t c_row = GEMM_COLS;                                                           \
        V x, y, z;                                                                                 \
        int64_t row = v->first % v->height, base = v->first / v->height * v->image_step + v->left; \
        ROWS(CONV_ROW)                                                                             \
        ROWS(CONV_ZERO)                                                                            \
        for (int64_t line = 0; line < v->lines; line++) {                                          \
            int64_t at = base + row * v->pitch;                                                    \
            for (const int64_t end = at + v->width; at < end; at++, b += GEMM_COLS) {              \
                y = V_LD(b), z = V_LD(b + W);                                                      \
                ROWS(CONV_STEP)                                                                    \
            }                                                                                      \
            if (++row == v->height) row = 0, base += v->image_step;                                \
        }                                                                                          \
        y = V_SET(1);                                                                              \
        if (v->add) {                                                                              \
            ROWS(GEMM_ADD)                                                                         \
        } else {                                                                                   \
            ROWS(GEMM_PUT)                                                                         \
        }                                                                                          \
    }

#define CONV_R3(X) X(0) X(1) X(2)
#if TNI_ISA == 0
#define CONV_ROWS 3
#elif TNI_ISA == 2
#define CONV_ROWS 9
#define CONV_R9(X) CONV_R3(X) X(3) X(4) X(5) X(6) X(7) X(8)
CONV_WEIGHT(9, CONV_R9)
#undef CONV_R9
#define CONV_FULL TNI_FNT(conv_weight9)
#else
#define CONV_ROWS 6
CONV_WEIGHT(6, GEMM_R6)
#define CONV_FULL TNI_FNT(conv_weight6)
#endif
CONV_WEIGHT(3, CONV_R3)
CONV_WEIGHT(1, GEMM_R1)

/* All rows: as many as fit into registers at a time, then three, then one. */
static void TNI_FNT(conv_weight)(const tni_conv_weight *v) {
    T *w = (T *)v->w;
    int64_t i = 0;
#if CONV_ROWS > 3
    for (; i + CONV_ROWS <= v->rows; i += CONV_ROWS) CONV_FULL(v, v->offset + i, w + i * GEMM_COLS);
    if (i > 0) TNI_KERNEL_PATH(conv_weight_full);
#endif
    if (v->rows - i >= 3) TNI_KERNEL_PATH(conv_weight_three);
    if ((v->rows - i) % 3) TNI_KERNEL_PATH(conv_weight_rest);
    for (; i + 3 <= v->rows; i += 3) TNI_FNT(conv_weight3)(v, v->offset + i, w + i * GEMM_COLS);
    for (; i < v->rows; i++) TNI_FNT(conv_weight1)(v, v->offset + i, w + i * GEMM_COLS);
}

#if TNI_ISA != 2
/* n = 1: w (rows) += sum over pixels of source (pixel; offset[k]) grad (pixel), in 16 lanes along
 * x that are folded by halves at the end of the block. grad lies like the source. */
static void TNI_FNT(conv_weight_one)(const tni_conv_weight *v) {
    enum { LANES = 16, N = LANES / W };
    T *w = (T *)v->w;
    for (int64_t k = 0; k < v->rows; k++) {
        const T *from = (const T *)v->source + v->offset[k] + v->left, *g = (const T *)v->grad;
        T lane[LANES] = {0};
        for (int64_t i = 0; i < N; i++) {
            V s = V_ZERO();
            for (int64_t line = 0; line < v->lines; line++) {
                const int64_t l = v->first + line;
                const T *p = from + l / v->height * v->image_step + l % v->height * v->pitch,
                        *q = g + l / v->height * v->grad_image + l % v->height * v->grad_lines;
                int64_t x = i * W;
                for (; x + W <= v->width; x += LANES) s = V_FMA(V_LD(p + x), V_LD(q + x), s);
                if (x < v->width)
                    s = V_FMA(V_LDN(p + x, v->width - x), V_LDN(q + x, v->width - x), s);
            }
            V_ST(lane + i * W, s);
        }
        for (int64_t half = LANES / 2; half > 0; half /= 2)
            for (int64_t i = 0; i < half; i++) lane[i] += lane[i + half];
        w[k] = v->add ? w[k] + lane[0] : lane[0];
    }
}
#endif

static void TNI_FNT(gemm_pack_b)(void *to, const void *from, int64_t lane, int64_t row, int64_t n,
                                 int64_t depth) {
    TNI_FNT(gemm_pack)((T *)to, GEMM_COLS, (const T *)from, lane, row, n, depth);
}
static int64_t TNI_FNT(gemm_columns)(void) { return GEMM_COLS; }

#undef CONV_ROW
#undef CONV_STEP
#undef CONV_ZERO
#undef CONV_WEIGHT
#undef CONV_R3
#undef CONV_ROWS
#undef CONV_FULL

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
