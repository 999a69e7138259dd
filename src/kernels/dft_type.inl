/* dft_type.inl - the kernels of dft.h. */

/* re + i im times c + i d. */
#define DFT_RE(re, im, c, d) V_FNMA(im, d, V_MUL(re, c))
#define DFT_IM(re, im, c, d) V_FMA(im, c, V_MUL(re, d))
/* Columns l to l + W - 1, or those that are left. */
#define DFT_COLUMNS for (int64_t l = 0, left = s->side; left > 0; l += W, left -= W)
#define DFT_GET(p) (left < W ? V_LDN(p, left) : V_LD(p))
#define DFT_PUT(p, v)          \
    do {                       \
        if (left < W)          \
            V_STN(p, v, left); \
        else                   \
            V_ST(p, v);        \
    } while (0)

/* What columns l on are multiplied by. */
#define DFT_ROOT(p) (s->each ? DFT_GET((p) + l) : V_SET(*(p)))

/* --- stages ----------------------------------------------------------------------------------- */

static void TNI_FNT(dft_stage2)(const tni_dft_stage *s) {
    const T *xr = (const T *)s->xr, *xi = (const T *)s->xi;
    T *yr = (T *)s->yr, *yi = (T *)s->yi;
    for (int64_t p = 0; p < s->m; p++) {
        const T *re = (const T *)s->re + p * s->p_step, *im = (const T *)s->im + p * s->p_step;
        for (int64_t q = 0; q < s->wide; q++) {
            const int64_t a = (p * s->wide + q) * s->x_step, b = a + s->m * s->wide * s->x_step;
            const int64_t to = (2 * p * s->wide + q) * s->y_step, next = s->wide * s->y_step;
            DFT_COLUMNS {
                const V c = DFT_ROOT(re), d = DFT_ROOT(im);
                const V ar = DFT_GET(xr + a + l), ai = DFT_GET(xi + a + l);
                const V br = DFT_GET(xr + b + l), bi = DFT_GET(xi + b + l);
                const V ur = V_SUB(ar, br), ui = V_SUB(ai, bi);
                DFT_PUT(yr + to + l, V_ADD(ar, br));
                DFT_PUT(yi + to + l, V_ADD(ai, bi));
                DFT_PUT(yr + to + next + l, DFT_RE(ur, ui, c, d));
                DFT_PUT(yi + to + next + l, DFT_IM(ur, ui, c, d));
            }
        }
    }
}
/* A butterfly of four places of r + i i, `step` apart, whose powers 1, 2, 3 are multiplied by c + d
 * i. */
TNI_INLINE void TNI_FNT(dft_four)(V *r, V *i, int step, const V *c, const V *d) {
    const V ar = V_ADD(r[0], r[2 * step]), ai = V_ADD(i[0], i[2 * step]),
            br = V_SUB(r[0], r[2 * step]), bi = V_SUB(i[0], i[2 * step]);
    const V cr = V_ADD(r[step], r[3 * step]), ci = V_ADD(i[step], i[3 * step]),
            dr = V_SUB(r[step], r[3 * step]), di = V_SUB(i[step], i[3 * step]);
    /* -i d = (di, -dr) */
    const V er = V_ADD(br, di), ei = V_SUB(bi, dr), fr = V_SUB(ar, cr), fi = V_SUB(ai, ci),
            gr = V_SUB(br, di), gi = V_ADD(bi, dr);
    r[0] = V_ADD(ar, cr), i[0] = V_ADD(ai, ci);
    r[step] = DFT_RE(er, ei, c[0], d[0]), i[step] = DFT_IM(er, ei, c[0], d[0]);
    r[2 * step] = DFT_RE(fr, fi, c[1], d[1]), i[2 * step] = DFT_IM(fr, fi, c[1], d[1]);
    r[3 * step] = DFT_RE(gr, gi, c[2], d[2]), i[3 * step] = DFT_IM(gr, gi, c[2], d[2]);
}
/* Four rows of x, `step` apart, and to y. */
TNI_INLINE void TNI_FNT(dft_get4)(const T *x, int64_t step, int64_t left, V *v, int apart) {
    v[0] = DFT_GET(x), v[apart] = DFT_GET(x + step);
    v[2 * apart] = DFT_GET(x + 2 * step), v[3 * apart] = DFT_GET(x + 3 * step);
}
TNI_INLINE void TNI_FNT(dft_put4)(T *y, int64_t step, int64_t left, const V *v) {
    DFT_PUT(y, v[0]);
    DFT_PUT(y + step, v[1]);
    DFT_PUT(y + 2 * step, v[2]);
    DFT_PUT(y + 3 * step, v[3]);
}
/* Roots `at`, 2 at, 3 at of the table. */
TNI_INLINE void TNI_FNT(dft_roots4)(const tni_dft_stage *s, int64_t at, V *c, V *d) {
    const T *re = (const T *)s->re, *im = (const T *)s->im;
    c[0] = V_SET(re[at]), c[1] = V_SET(re[2 * at]), c[2] = V_SET(re[3 * at]);
    d[0] = V_SET(im[at]), d[1] = V_SET(im[2 * at]), d[2] = V_SET(im[3 * at]);
}
/* Columns l on of group p, with what their powers 1, 2, 3 are multiplied by. */
static void TNI_FNT(dft_stage4)(const tni_dft_stage *s, int64_t p, int64_t l, const V *c,
                                const V *d) {
    const int64_t left = s->side - l, x = s->m * s->wide * s->x_step, y = s->wide * s->y_step;
    for (int64_t q = 0; q < s->wide; q++) {
        const int64_t from = (p * s->wide + q) * s->x_step + l,
                      to = (4 * p * s->wide + q) * s->y_step + l;
        V r[4], i[4];
        TNI_FNT(dft_get4)((const T *)s->xr + from, x, left, r, 1);
        TNI_FNT(dft_get4)((const T *)s->xi + from, x, left, i, 1);
        TNI_FNT(dft_four)(r, i, 1, c, d);
        TNI_FNT(dft_put4)((T *)s->yr + to, y, left, r);
        TNI_FNT(dft_put4)((T *)s->yi + to, y, left, i);
    }
}
static void TNI_FNT(dft_stages4)(const tni_dft_stage *s) {
    const T *re = (const T *)s->re, *im = (const T *)s->im;
    for (int64_t p = 0; p < s->m; p++) {
        V c[3], d[3];
        if (!s->each) TNI_FNT(dft_roots4)(s, p * s->p_step, c, d);
        DFT_COLUMNS {
            for (int k = 0; k < 3 && s->each; k++) {
                c[k] = DFT_GET(re + k * s->k_step + p * s->p_step + l);
                d[k] = DFT_GET(im + k * s->k_step + p * s->p_step + l);
            }
            TNI_FNT(dft_stage4)(s, p, l, c, d);
        }
    }
}
/* Two stages of radix 4 without memory between: of group p, the first are of groups p + m j of 4 m,
 * which take rows p + m (j + 4 k) of x, j, k < 4; power k of them is in group p of the second one.
 * A vector of columns; rows of x and y are xs and ys apart. */
static TNI_NOINLINE void TNI_FNT(dft_stage16)(const tni_dft_stage *s, int64_t p, const T *xr,
                                              const T *xi, int64_t xs, T *yr, T *yi, int64_t ys) {
    const int64_t left = W;
    V r[16], i[16], c[3], d[3];
#define DFT_FIRST(j)                                          \
    TNI_FNT(dft_get4)(xr + (j)*xs, 4 * xs, left, r + (j), 4); \
    TNI_FNT(dft_get4)(xi + (j)*xs, 4 * xs, left, i + (j), 4); \
    TNI_FNT(dft_roots4)(s, (p + (j)*s->m) * s->p_step, c, d); \
    TNI_FNT(dft_four)(r + (j), i + (j), 4, c, d)
#define DFT_SECOND(k)                                          \
    TNI_FNT(dft_four)(r + 4 * (k), i + 4 * (k), 1, c, d);      \
    TNI_FNT(dft_put4)(yr + (k)*ys, 4 * ys, left, r + 4 * (k)); \
    TNI_FNT(dft_put4)(yi + (k)*ys, 4 * ys, left, i + 4 * (k))
    DFT_FIRST(0);
    DFT_FIRST(1);
    DFT_FIRST(2);
    DFT_FIRST(3);
    TNI_FNT(dft_roots4)(s, 4 * p * s->p_step, c, d);
    DFT_SECOND(0);
    DFT_SECOND(1);
    DFT_SECOND(2);
    DFT_SECOND(3);
#undef DFT_FIRST
#undef DFT_SECOND
}
/* The same of fewer columns, by way of whole vectors. */
static void TNI_FNT(dft_stage16_some)(const tni_dft_stage *s, int64_t p, const T *xr, const T *xi,
                                      int64_t xs, T *yr, T *yi, int64_t ys, int64_t left) {
    T at[4][16 * W];
    for (int k = 0; k < 16; k++) {
        V_ST(at[0] + k * W, V_LDN(xr + k * xs, left));
        V_ST(at[1] + k * W, V_LDN(xi + k * xs, left));
    }
    TNI_FNT(dft_stage16)(s, p, at[0], at[1], W, at[2], at[3], W);
    for (int k = 0; k < 16; k++) {
        V_STN(yr + k * ys, V_LD(at[2] + k * W), left);
        V_STN(yi + k * ys, V_LD(at[3] + k * W), left);
    }
}
static void TNI_FNT(dft_stages16)(const tni_dft_stage *s) {
    const int64_t xs = s->m * s->wide * s->x_step, ys = s->wide * s->y_step;
    for (int64_t p = 0; p < s->m; p++)
        for (int64_t q = 0; q < s->wide; q++) {
            const int64_t from = (p * s->wide + q) * s->x_step,
                          to = (16 * p * s->wide + q) * s->y_step;
            const T *xr = (const T *)s->xr + from, *xi = (const T *)s->xi + from;
            T *yr = (T *)s->yr + to, *yi = (T *)s->yi + to;
            int64_t l = 0;
            for (; l + W <= s->side; l += W)
                TNI_FNT(dft_stage16)(s, p, xr + l, xi + l, xs, yr + l, yi + l, ys);
            if (W > 1 && l < s->side) TNI_FNT(dft_stage16_some)
            (s, p, xr + l, xi + l, xs, yr + l, yi + l, ys, s->side - l);
        }
}
/* An odd radix: x_j and x_(r - j) are added and subtracted first, and powers k and r - k of the
 * group take the same products of both. Columns l on of group p, row q. */
TNI_INLINE void TNI_FNT(dft_odd)(const tni_dft_stage *s, int64_t p, int64_t q, int64_t l,
                                 const T *cosine, const T *sine, int r) {
    const int64_t left = s->side - l, x = s->m * s->wide * s->x_step, y = s->wide * s->y_step,
                  from = (p * s->wide + q) * s->x_step + l,
                  to = (r * p * s->wide + q) * s->y_step + l;
    const T *xr = (const T *)s->xr + from, *xi = (const T *)s->xi + from;
    T *yr = (T *)s->yr + to, *yi = (T *)s->yi + to;
    const V zr = DFT_GET(xr), zi = DFT_GET(xi);
    V ar[16], ai[16], br[16], bi[16], tr = zr, ti = zi;
    for (int j = 1; j <= r / 2; j++) {
        const V ur = DFT_GET(xr + j * x), ui = DFT_GET(xi + j * x), vr = DFT_GET(xr + (r - j) * x),
                vi = DFT_GET(xi + (r - j) * x);
        ar[j] = V_ADD(ur, vr), ai[j] = V_ADD(ui, vi);
        br[j] = V_SUB(ur, vr), bi[j] = V_SUB(ui, vi);
        tr = V_ADD(tr, ar[j]), ti = V_ADD(ti, ai[j]);
    }
    DFT_PUT(yr, tr);
    DFT_PUT(yi, ti);
    for (int k = 1; k <= r / 2; k++) {
        V gr = zr, gi = zi, hr = V_ZERO(), hi = V_ZERO();
        for (int j = 1, w = k; j <= r / 2; j++, w = w + k < r ? w + k : w + k - r) {
            const V c = V_SET(cosine[w]), d = V_SET(sine[w]);
            gr = V_FMA(ar[j], c, gr), gi = V_FMA(ai[j], c, gi);
            hr = V_FMA(bi[j], d, hr), hi = V_FMA(br[j], d, hi);
        }
        const int64_t a = s->each ? (k - 1) * s->k_step + p * s->p_step : k * p * s->p_step,
                      b = s->each ? (r - k - 1) * s->k_step + p * s->p_step
                                  : (r - k) * p * s->p_step;
        const T *re = (const T *)s->re, *im = (const T *)s->im;
        const V wr = DFT_ROOT(re + a), wi = DFT_ROOT(im + a), vr = DFT_ROOT(re + b),
                vi = DFT_ROOT(im + b);
        /* d is the imaginary part of a root: i d (br + i bi) = (-d bi, d br) */
        const V er = V_SUB(gr, hr), ei = V_ADD(gi, hi), fr = V_ADD(gr, hr), fi = V_SUB(gi, hi);
        DFT_PUT(yr + k * y, DFT_RE(er, ei, wr, wi));
        DFT_PUT(yi + k * y, DFT_IM(er, ei, wr, wi));
        DFT_PUT(yr + (r - k) * y, DFT_RE(fr, fi, vr, vi));
        DFT_PUT(yi + (r - k) * y, DFT_IM(fr, fi, vr, vi));
    }
}
static void TNI_FNT(dft_stages_odd)(const tni_dft_stage *s) {
    const int r = (int)s->r;
    T c[32], d[32];
    for (int w = 0; w < r; w++) {
        c[w] = ((const T *)s->root_re)[w * (s->n / s->r)];
        d[w] = ((const T *)s->root_im)[w * (s->n / s->r)];
    }
    for (int64_t p = 0; p < s->m; p++)
        for (int64_t q = 0; q < s->wide; q++)
            for (int64_t l = 0; l < s->side; l += W) {
                if (r == 3)
                    TNI_FNT(dft_odd)(s, p, q, l, c, d, 3);
                else if (r == 5)
                    TNI_FNT(dft_odd)(s, p, q, l, c, d, 5);
                else
                    TNI_FNT(dft_odd)(s, p, q, l, c, d, r);
            }
}
static void TNI_FNT(dft_stage)(const tni_dft_stage *s) {
    if (s->r == 16)
        TNI_FNT(dft_stages16)(s);
    else if (s->r == 4)
        TNI_FNT(dft_stages4)(s);
    else if (s->r == 2)
        TNI_FNT(dft_stage2)(s);
    else
        TNI_FNT(dft_stages_odd)(s);
}

/* --- lines and planes ------------------------------------------------------------------------- */

enum { TNI_FNT(dft_ahead) = 16 }; /* rows */
#define DFT_AHEAD TNI_FNT(dft_ahead)

/* How many lines from q on have neighbouring elements. */
static int64_t TNI_FNT(dft_beside)(const tni_dft_move *v, int64_t q) {
    const int64_t gap = v->apart == 1 ? 2 : 1;
    int64_t end = q + 1;
    while (end < v->lines && v->line[end] == v->line[end - 1] + gap) end++;
    return end - q;
}
/* Elements k on by LINE, some of one line after another, or by BESIDE where W lines or more are
 * neighbours. */
#define DFT_MOVE(LINE, BESIDE)                                                    \
    enum { TILE = 32 };                                                           \
    for (int64_t q = 0, first = 0, some; q <= v->lines && k < v->n; q += some) {  \
        some = q < v->lines ? TNI_FNT(dft_beside)(v, q) : 1;                      \
        if (q < v->lines && some < W) continue;                                   \
        for (int64_t i = k; i < v->n && first < q; i += TILE)                     \
            for (int64_t l = first; l < q; l++)                                   \
                TNI_FNT(LINE)(v, l, i, v->n - i < TILE ? v->n : i + TILE);        \
        if (q < v->lines) TNI_FNT(BESIDE)(v, q, some, k);                         \
        first = q + some;                                                         \
    }
/* Whether it is a whole group of lines of pairs, G lines, which are 64 bytes of columns. */
enum { TNI_FNT(dft_group) = 64 / sizeof(T) };
#define G TNI_FNT(dft_group)
TNI_INLINE bool TNI_FNT(dft_is_group)(const tni_dft_move *v) {
    return v->side == G && v->lines == G && v->step == 2 && v->apart == 1;
}
#if TNI_ISA == 1
/* Blocks of W lines by W / 2 elements in registers: most shuffles of AVX2 move within halves of a
 * vector, so that these, which exchange halves but once, are a third of the text below.
 *
 * Of pairs of lines l, l + 1 the elements 0 1 | 2 3, or in f64 0 | 1, to rows of elements. */
#ifdef TNI_TYPE_F32
#define DFT_FIRST(a, b) _mm256_shuffle_ps(a, b, 0x88)
#define DFT_SECOND(a, b) _mm256_shuffle_ps(a, b, 0xdd)
#define DFT_HALVES_OF(a, b, which) _mm256_permute2f128_ps(a, b, which)
TNI_INLINE void TNI_FNT(dft_rows)(const V *v, T *to, int64_t side) {
    const V a = DFT_FIRST(v[0], v[1]), b = DFT_SECOND(v[0], v[1]), c = DFT_FIRST(v[2], v[3]),
            d = DFT_SECOND(v[2], v[3]);
    V_ST(to, DFT_HALVES_OF(a, c, 0x20));
    V_ST(to + side, DFT_HALVES_OF(b, d, 0x20));
    V_ST(to + 2 * side, DFT_HALVES_OF(a, c, 0x31));
    V_ST(to + 3 * side, DFT_HALVES_OF(b, d, 0x31));
}
/* Pairs of lines 0 1 | 4 5 of two elements and the next two to their lines. */
TNI_INLINE void TNI_FNT(dft_pairs)(const V *v, T *y, int64_t first, int64_t second,
                                   int64_t fifth, int64_t sixth) {
    const __m256d a = _mm256_castps_pd(v[0]), b = _mm256_castps_pd(v[1]),
                  c = _mm256_castps_pd(v[2]), d = _mm256_castps_pd(v[3]);
    const V e = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b)),
            f = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)),
            g = _mm256_castpd_ps(_mm256_unpacklo_pd(c, d)),
            h = _mm256_castpd_ps(_mm256_unpackhi_pd(c, d));
    V_ST(y + first, DFT_HALVES_OF(e, g, 0x20));
    V_ST(y + second, DFT_HALVES_OF(f, h, 0x20));
    V_ST(y + fifth, DFT_HALVES_OF(e, g, 0x31));
    V_ST(y + sixth, DFT_HALVES_OF(f, h, 0x31));
}
#define DFT_LOW(a, b) _mm256_unpacklo_ps(a, b)
#define DFT_HIGH(a, b) _mm256_unpackhi_ps(a, b)
#define DFT_LINES(v, w)                                                               \
    TNI_FNT(dft_pairs)(v, y, line[0], line[1], line[4], line[5]);                     \
    TNI_FNT(dft_pairs)(w, y, line[2], line[3], line[6], line[7])
#else
#define DFT_FIRST(a, b) _mm256_unpacklo_pd(a, b)
#define DFT_SECOND(a, b) _mm256_unpackhi_pd(a, b)
#define DFT_HALVES_OF(a, b, which) _mm256_permute2f128_pd(a, b, which)
TNI_INLINE void TNI_FNT(dft_rows)(const V *v, T *to, int64_t side) {
    V_ST(to, DFT_HALVES_OF(v[0], v[1], 0x20));
    V_ST(to + side, DFT_HALVES_OF(v[0], v[1], 0x31));
}
#define DFT_LOW(a, b) _mm256_unpacklo_pd(a, b)
#define DFT_HIGH(a, b) _mm256_unpackhi_pd(a, b)
#define DFT_LINES(v, w)                                    \
    V_ST(y + line[0], DFT_HALVES_OF(v[0], v[1], 0x20));    \
    V_ST(y + line[2], DFT_HALVES_OF(v[0], v[1], 0x31));    \
    V_ST(y + line[1], DFT_HALVES_OF(w[0], w[1], 0x20));    \
    V_ST(y + line[3], DFT_HALVES_OF(w[0], w[1], 0x31))
#endif
static int64_t TNI_FNT(dft_load_group)(const tni_dft_move *v) {
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_load_group);
    for (; k + W / 2 <= v->n; k += W / 2)
        for (int q = 0; q < G; q += W) {
            const T *x = (const T *)v->data + 2 * k;
            const int64_t *line = v->line + q, to = k * G + q;
            V r[W / 2], s[W / 2];
            for (int i = 0; i < W / 2; i++) {
                const V a = V_LD(x + line[2 * i]), b = V_LD(x + line[2 * i + 1]);
                r[i] = DFT_FIRST(a, b), s[i] = DFT_SECOND(a, b);
            }
            TNI_FNT(dft_rows)(r, (T *)v->re + to, G);
            TNI_FNT(dft_rows)(s, (T *)v->im + to, G);
        }
    return k;
}
static int64_t TNI_FNT(dft_store_group)(const tni_dft_move *v) {
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_store_group);
    for (; k + W / 2 <= v->n; k += W / 2)
        for (int q = 0; q < G; q += W) {
            T *y = (T *)v->data + 2 * k;
            const int64_t *line = v->line + q;
            V r[W / 2], s[W / 2];
            for (int i = 0; i < W / 2; i++) {
                const V a = V_MUL(V_LD((const T *)v->re + (k + i) * G + q), scale),
                        b = V_MUL(V_LD((const T *)v->im + (k + i) * G + q), im_scale);
                r[i] = DFT_LOW(a, b), s[i] = DFT_HIGH(a, b);
            }
            DFT_LINES(r, s);
        }
    return k;
}
#undef DFT_FIRST
#undef DFT_SECOND
#undef DFT_HALVES_OF
#undef DFT_LOW
#undef DFT_HIGH
#undef DFT_LINES
#else
/* Places of G rows of W numbers, which rotate by one bit where the first half of the rows and the
 * second are interleaved, so that after log2(G) times these are W rows of G (M. Pease, "An
 * adaptation of the fast Fourier transform for parallel processing", 1968). Two times at once: rows
 * i + j G / 4 to rows 4 i + j, j < 4, at y. Compilers keep t in registers. */
TNI_INLINE void TNI_FNT(dft_zip4)(V a, V b, V c, V d, T *y) {
    T t[4 * W];
    V_ST2(t, a, c);
    V_ST2(t + 2 * W, b, d);
    V_ST2(y, V_LD(t), V_LD(t + 2 * W));
    V_ST2(y + 2 * W, V_LD(t + W), V_LD(t + 3 * W));
}
/* The other way: rows 4 i + j at x to v. */
TNI_INLINE void TNI_FNT(dft_unzip4)(const T *x, V *v) {
    T t[4 * W];
    V a, b;
    V_LD2(x, &a, &b);
    V_ST(t, a);
    V_ST(t + 2 * W, b);
    V_LD2(x + 2 * W, &a, &b);
    V_ST(t + W, a);
    V_ST(t + 3 * W, b);
    V_LD2(t, v, v + 2);
    V_LD2(t + 2 * W, v + 1, v + 3);
}
/* The last times of G rows x to W rows y, and the first ones back. */
TNI_INLINE void TNI_FNT(dft_zip)(const T *x, T *y) {
    if (G == 16)
        for (int i = 0; i < 4; i++) TNI_FNT(dft_zip4)
    (V_LD(x + i * W), V_LD(x + (i + 4) * W), V_LD(x + (i + 8) * W), V_LD(x + (i + 12) * W),
     y + 4 * i * W);
    else for (int i = 0; i < 4; i++) V_ST2(y + 2 * i * W, V_LD(x + i * W), V_LD(x + (i + 4) * W));
}
TNI_INLINE void TNI_FNT(dft_unzip)(const T *x, T *y) {
    V v[4];
    for (int i = 0; i < 4; i++)
        if (G == 16) {
            TNI_FNT(dft_unzip4)(x + 4 * i * W, v);
            V_ST(y + i * W, v[0]);
            V_ST(y + (i + 4) * W, v[1]);
            V_ST(y + (i + 8) * W, v[2]);
            V_ST(y + (i + 12) * W, v[3]);
        } else {
            V_LD2(x + 2 * i * W, v, v + 1);
            V_ST(y + i * W, v[0]);
            V_ST(y + (i + 4) * W, v[1]);
        }
}
/* Whole vectors of elements of a group to planes. Returns how many elements. */
static int64_t TNI_FNT(dft_load_group)(const tni_dft_move *v) {
    T r[G * W], s[G * W];
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_load_group);
    for (; k + W <= v->n; k += W) {
        const T *x = (const T *)v->data + 2 * k;
        for (int i = 0; i < G / 4; i++) {
            V re[4], im[4];
            V_LD2(x + v->line[i], re, im);
            V_LD2(x + v->line[i + G / 4], re + 1, im + 1);
            V_LD2(x + v->line[i + G / 2], re + 2, im + 2);
            V_LD2(x + v->line[i + 3 * G / 4], re + 3, im + 3);
            TNI_FNT(dft_zip4)(re[0], re[1], re[2], re[3], r + 4 * i * W);
            TNI_FNT(dft_zip4)(im[0], im[1], im[2], im[3], s + 4 * i * W);
        }
        TNI_FNT(dft_zip)(r, (T *)v->re + k * G);
        TNI_FNT(dft_zip)(s, (T *)v->im + k * G);
    }
    return k;
}
/* The same from planes, times scale and im_scale. */
static int64_t TNI_FNT(dft_store_group)(const tni_dft_move *v) {
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    T r[G * W], s[G * W];
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_store_group);
    for (; k + W <= v->n; k += W) {
        T *y = (T *)v->data + 2 * k;
        TNI_FNT(dft_unzip)((const T *)v->re + k * G, r);
        TNI_FNT(dft_unzip)((const T *)v->im + k * G, s);
        for (int i = 0; i < G / 4; i++) {
            V re[4], im[4];
            TNI_FNT(dft_unzip4)(r + 4 * i * W, re);
            TNI_FNT(dft_unzip4)(s + 4 * i * W, im);
            V_ST2(y + v->line[i], V_MUL(re[0], scale), V_MUL(im[0], im_scale));
            V_ST2(y + v->line[i + G / 4], V_MUL(re[1], scale), V_MUL(im[1], im_scale));
            V_ST2(y + v->line[i + G / 2], V_MUL(re[2], scale), V_MUL(im[2], im_scale));
            V_ST2(y + v->line[i + 3 * G / 4], V_MUL(re[3], scale), V_MUL(im[3], im_scale));
        }
    }
    return k;
}
#endif
#undef G
/* Elements k to end - 1 of line q. */
static void TNI_FNT(dft_load_line)(const tni_dft_move *v, int64_t q, int64_t k, int64_t end) {
    const T *x = (const T *)v->data + v->line[q];
    T *re = (T *)v->re, *im = (T *)v->im;
    for (; k < end; k++) {
        re[k * v->side + q] = x[k * v->step];
        im[k * v->side + q] = v->apart ? x[k * v->step + v->apart] : (T)0;
    }
}
/* Elements k on of `some` lines from q on that are neighbours, W or more; the last vector may
 * overlap the one before it. Rows may lie pages apart, so the caches hear of them early. */
static void TNI_FNT(dft_load_beside)(const tni_dft_move *v, int64_t q, int64_t some, int64_t k) {
    for (; k < v->n; k++) {
        const T *x = (const T *)v->data + v->line[q] + k * v->step;
        const T *soon = k + DFT_AHEAD < v->n ? x + DFT_AHEAD * v->step : x;
        T *re = (T *)v->re + k * v->side + q, *im = (T *)v->im + k * v->side + q;
        for (int64_t l = 0; l < some; l += W) {
            const int64_t at = l + W <= some ? l : some - W;
            V a, b = V_ZERO();
            TNI_PREFETCH(soon + (v->apart == 1 ? 2 * at : at), 0);
            if (v->apart == 1) {
                V_LD2(x + 2 * at, &a, &b);
            } else {
                a = V_LD(x + at);
                if (v->apart) b = V_LD(x + at + v->apart);
            }
            V_ST(re + at, a);
            V_ST(im + at, b);
        }
    }
}
static void TNI_FNT(dft_load)(const tni_dft_move *v) {
    const T *x = (const T *)v->data + (v->lines ? v->line[0] : 0);
    T *re = (T *)v->re, *im = (T *)v->im;
    int64_t k = 0;
    if (v->side == 1 && v->step == 2 && v->apart == 1) {
        for (; k + W <= v->n; k += W) {
            V a, b;
            V_LD2(x + 2 * k, &a, &b);
            V_ST(re + k, a);
            V_ST(im + k, b);
        }
    } else if (TNI_FNT(dft_is_group)(v)) {
        k = TNI_FNT(dft_load_group)(v);
    }
    DFT_MOVE(dft_load_line, dft_load_beside)
}
/* Elements k to end - 1 of line q. */
static void TNI_FNT(dft_store_line)(const tni_dft_move *v, int64_t q, int64_t k, int64_t end) {
    const T scale = (T)v->scale, im_scale = (T)v->im_scale;
    const T *re = (const T *)v->re, *im = (const T *)v->im;
    T *y = (T *)v->data + v->line[q];
    for (; k < end; k++) {
        y[k * v->step] = re[k * v->side + q] * scale;
        if (v->apart) y[k * v->step + v->apart] = im[k * v->side + q] * im_scale;
    }
}
/* Elements k on of `some` lines from q on, as dft_load_beside. */
static void TNI_FNT(dft_store_beside)(const tni_dft_move *v, int64_t q, int64_t some, int64_t k) {
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    for (; k < v->n; k++) {
        const T *re = (const T *)v->re + k * v->side + q, *im = (const T *)v->im + k * v->side + q;
        T *y = (T *)v->data + v->line[q] + k * v->step;
        const T *soon = k + DFT_AHEAD < v->n ? y + DFT_AHEAD * v->step : y;
        for (int64_t l = 0; l < some; l += W) {
            const int64_t at = l + W <= some ? l : some - W;
            TNI_PREFETCH(soon + (v->apart == 1 ? 2 * at : at), 1);
            const V a = V_MUL(V_LD(re + at), scale), b = V_MUL(V_LD(im + at), im_scale);
            if (v->apart == 1) {
                V_ST2(y + 2 * at, a, b);
            } else {
                V_ST(y + at, a);
                if (v->apart) V_ST(y + at + v->apart, b);
            }
        }
    }
}
static void TNI_FNT(dft_store)(const tni_dft_move *v) {
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    const T *re = (const T *)v->re, *im = (const T *)v->im;
    T *y = (T *)v->data + (v->lines ? v->line[0] : 0);
    int64_t k = 0;
    if (v->side == 1 && v->step == 2 && v->apart == 1) {
        for (; k + W <= v->n; k += W)
            V_ST2(y + 2 * k, V_MUL(V_LD(re + k), scale), V_MUL(V_LD(im + k), im_scale));
    } else if (TNI_FNT(dft_is_group)(v)) {
        k = TNI_FNT(dft_store_group)(v);
    }
    DFT_MOVE(dft_store_line, dft_store_beside)
}
#undef DFT_MOVE
#undef DFT_AHEAD

/* --- products --------------------------------------------------------------------------------- */

static void TNI_FNT(dft_twist)(const tni_dft_twist *t) {
    enum { TILE = 16, MOST = 16 }; /* rows at a time; columns at most */
    T re[TILE * MOST], im[TILE * MOST];
    for (int64_t k = 0; k < t->rows; k += TILE) {
        const int64_t end = t->rows - k < TILE ? t->rows : k + TILE;
        for (int64_t i = k; i < end; i++) {
            const V a = V_SET(((const T *)t->base_re)[i]), b = V_SET(((const T *)t->base_im)[i]);
            for (int64_t q = 0, left = t->side; left > 0; q += W, left -= W) {
                const V c = DFT_GET((const T *)t->part_re + i * t->part_step + q),
                        d = DFT_GET((const T *)t->part_im + i * t->part_step + q),
                        xr = DFT_GET((const T *)t->xr + i * t->side + q),
                        xi = DFT_GET((const T *)t->xi + i * t->side + q);
                const V wr = DFT_RE(a, b, c, d), wi = DFT_IM(a, b, c, d);
                V_ST(re + (i - k) * MOST + q, DFT_RE(xr, xi, wr, wi));
                V_ST(im + (i - k) * MOST + q, DFT_IM(xr, xi, wr, wi));
            }
        }
        for (int64_t q = 0; q < t->side; q++) {
            T *yr = (T *)t->yr + q * t->rows, *yi = (T *)t->yi + q * t->rows;
            for (int64_t i = k; i < end; i++) {
                yr[i] = re[(i - k) * MOST + q];
                yi[i] = im[(i - k) * MOST + q];
            }
        }
    }
}
/* Numbers i on, in the order of memory. */
TNI_INLINE void TNI_FNT(dft_times_at)(const tni_dft_times *t, int64_t i, int64_t left, V c, V d) {
    const V xr = DFT_GET((const T *)t->xr + i), xi = DFT_GET((const T *)t->xi + i);
    DFT_PUT((T *)t->yr + i, DFT_RE(xr, xi, c, d));
    DFT_PUT((T *)t->yi + i, DFT_IM(xr, xi, c, d));
}
static void TNI_FNT(dft_times)(const tni_dft_times *t) {
    const T *wr = (const T *)t->wr, *wi = (const T *)t->wi;
    if (t->side == 1) {
        for (int64_t k = 0, left = t->n; left > 0; k += W, left -= W)
            TNI_FNT(dft_times_at)(t, k, left, DFT_GET(wr + k), DFT_GET(wi + k));
        return;
    }
    for (int64_t k = 0; k < t->n; k++)
        for (int64_t q = 0; q < t->side; q += W)
            TNI_FNT(dft_times_at)(t, k * t->side + q, t->side - q, V_SET(wr[k]), V_SET(wi[k]));
}

/* --- real numbers ----------------------------------------------------------------------------- */

/* Elements k and m - k, a and b, of roots c + i d. E = (a + conj b) / 2, O = (a - conj b) / 2 times
 * the root: E - i O and conj (E + i O). */
#define DFT_UNPACK                                                                               \
    const V half = V_SET(0.5), pr = V_MUL(half, V_ADD(ar, br)), pi = V_MUL(half, V_SUB(ai, bi)), \
            mr = V_MUL(half, V_SUB(ar, br)), mi = V_MUL(half, V_ADD(ai, bi));                    \
    const V ur = DFT_RE(mr, mi, c, d), ui = DFT_IM(mr, mi, c, d);                                \
    const V yr = V_ADD(pr, ui), yi = V_SUB(pi, ur), zr = V_SUB(pr, ui), zi = V_NEG(V_ADD(pi, ur));
/* E = a + conj b, O = (a - conj b) times the root: E + i O and conj E + i conj O. */
#define DFT_PACK                                                                     \
    const V pr = V_ADD(ar, br), pi = V_MUL(sign, V_SUB(ai, bi)), mr = V_SUB(ar, br), \
            mi = V_MUL(sign, V_ADD(ai, bi));                                         \
    const V ur = DFT_RE(mr, mi, c, d), ui = DFT_IM(mr, mi, c, d);                    \
    const V yr = V_SUB(pr, ui), yi = V_ADD(pi, ur), zr = V_ADD(pr, ui), zi = V_SUB(ur, pi);
/* From k on side by side: vectors of columns, or, of one alone, of elements that are mirrored. */
#define DFT_HALVES(BODY)                                                                  \
    T *re = (T *)h->xr, *im = (T *)h->xi;                                                 \
    const T *cs = (const T *)h->re, *ds = (const T *)h->im;                               \
    const V sign = V_SET(h->sign);                                                        \
    int64_t k = 1;                                                                        \
    (void)sign;                                                                           \
    for (; h->side == 1 && 2 * (k + W) <= h->m; k += W) {                                 \
        const int64_t b = h->m - k - W + 1;                                               \
        const V ar = V_LD(re + k), ai = V_LD(im + k), c = V_LD(cs + k), d = V_LD(ds + k); \
        const V br = V_REV(V_LD(re + b)), bi = V_REV(V_LD(im + b));                       \
        BODY V_ST(re + k, yr);                                                            \
        V_ST(im + k, yi);                                                                 \
        V_ST(re + b, V_REV(zr));                                                          \
        V_ST(im + b, V_REV(zi));                                                          \
    }                                                                                     \
    for (; 2 * k <= h->m; k++)                                                            \
        for (int64_t q = 0, left = h->side; left > 0; q += W, left -= W) {                \
            const int64_t a = k * h->side + q, b = (h->m - k) * h->side + q;              \
            const V ar = DFT_GET(re + a), ai = DFT_GET(im + a), c = V_SET(cs[k]),         \
                    d = V_SET(ds[k]);                                                     \
            const V br = DFT_GET(re + b), bi = DFT_GET(im + b);                           \
            BODY DFT_PUT(re + a, yr);                                                     \
            DFT_PUT(im + a, yi);                                                          \
            DFT_PUT(re + b, zr);                                                          \
            DFT_PUT(im + b, zi);                                                          \
        }                                                                                 \
    for (int64_t q = 0; q < h->side; q++) {                                               \
        const T a = re[q], b = im[q];                                                     \
        re[q] = a + b;                                                                    \
        im[q] = a - b;                                                                    \
    }
static void TNI_FNT(dft_unpack)(const tni_dft_half *h) { DFT_HALVES(DFT_UNPACK) }
static void TNI_FNT(dft_pack)(const tni_dft_half *h) { DFT_HALVES(DFT_PACK) }
#undef DFT_UNPACK
#undef DFT_PACK
#undef DFT_HALVES

/* --- roots ------------------------------------------------------------------------------------ */

#ifdef TNI_TYPE_F64
/* The series of dft_roots.inl, a vector of angles at a time. */
static void TNI_FNT(dft_angles)(const double *part, double n, int64_t count, double *c, double *s) {
    static const double sine[] = TNI_DFT_SINE, cosine[] = TNI_DFT_COSINE;
    const V step = V_SET(TNI_DFT_EIGHTH), whole = V_SET(n);
    for (int64_t k = 0, left = count; left > 0; k += W, left -= W) {
        const V x = V_MUL(step, V_DIV(DFT_GET(part + k), whole)), z = V_MUL(x, x);
        V p = V_SET(sine[0]), r = V_SET(cosine[0]);
        for (int i = 1; i < TNI_DFT_SINES; i++) p = V_FMA(z, p, V_SET(sine[i]));
        for (int i = 1; i < TNI_DFT_COSINES; i++) r = V_FMA(z, r, V_SET(cosine[i]));
        p = V_FMA(V_MUL(x, z), p, x);
        DFT_PUT(s + k, p);
        DFT_PUT(c + k, r);
    }
}
#endif

#undef DFT_RE
#undef DFT_IM
#undef DFT_COLUMNS
#undef DFT_ROOT
#undef DFT_GET
#undef DFT_PUT
