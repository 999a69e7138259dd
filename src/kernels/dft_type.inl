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
/* Columns l on of group p, with what their powers 1, 2, 3 are multiplied by. */
static void TNI_FNT(dft_stage4)(const tni_dft_stage *s, int64_t p, int64_t l, const V *c,
                                const V *d) {
    const int64_t left = s->side - l, x = s->m * s->wide * s->x_step, y = s->wide * s->y_step;
    for (int64_t q = 0; q < s->wide; q++) {
        const int64_t from = (p * s->wide + q) * s->x_step + l,
                      to = (4 * p * s->wide + q) * s->y_step + l;
        const T *xr = (const T *)s->xr + from, *xi = (const T *)s->xi + from;
        T *yr = (T *)s->yr + to, *yi = (T *)s->yi + to;
        const V r0 = DFT_GET(xr), r1 = DFT_GET(xr + x), r2 = DFT_GET(xr + 2 * x),
                r3 = DFT_GET(xr + 3 * x);
        const V i0 = DFT_GET(xi), i1 = DFT_GET(xi + x), i2 = DFT_GET(xi + 2 * x),
                i3 = DFT_GET(xi + 3 * x);
        const V ar = V_ADD(r0, r2), ai = V_ADD(i0, i2), br = V_SUB(r0, r2), bi = V_SUB(i0, i2);
        const V cr = V_ADD(r1, r3), ci = V_ADD(i1, i3), dr = V_SUB(r1, r3), di = V_SUB(i1, i3);
        /* -i d = (di, -dr) */
        const V er = V_ADD(br, di), ei = V_SUB(bi, dr), fr = V_SUB(ar, cr), fi = V_SUB(ai, ci),
                gr = V_SUB(br, di), gi = V_ADD(bi, dr);
        DFT_PUT(yr, V_ADD(ar, cr));
        DFT_PUT(yi, V_ADD(ai, ci));
        DFT_PUT(yr + y, DFT_RE(er, ei, c[0], d[0]));
        DFT_PUT(yi + y, DFT_IM(er, ei, c[0], d[0]));
        DFT_PUT(yr + 2 * y, DFT_RE(fr, fi, c[1], d[1]));
        DFT_PUT(yi + 2 * y, DFT_IM(fr, fi, c[1], d[1]));
        DFT_PUT(yr + 3 * y, DFT_RE(gr, gi, c[2], d[2]));
        DFT_PUT(yi + 3 * y, DFT_IM(gr, gi, c[2], d[2]));
    }
}
static void TNI_FNT(dft_stages4)(const tni_dft_stage *s) {
    const T *re = (const T *)s->re, *im = (const T *)s->im;
    for (int64_t p = 0; p < s->m; p++) {
        V c[3], d[3];
        for (int k = 0; k < 3 && !s->each; k++) {
            c[k] = V_SET(re[(k + 1) * p * s->p_step]);
            d[k] = V_SET(im[(k + 1) * p * s->p_step]);
        }
        DFT_COLUMNS {
            for (int k = 0; k < 3 && s->each; k++) {
                c[k] = DFT_GET(re + k * s->k_step + p * s->p_step + l);
                d[k] = DFT_GET(im + k * s->k_step + p * s->p_step + l);
            }
            TNI_FNT(dft_stage4)(s, p, l, c, d);
        }
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
    if (s->r == 4)
        TNI_FNT(dft_stages4)(s);
    else if (s->r == 2)
        TNI_FNT(dft_stage2)(s);
    else
        TNI_FNT(dft_stages_odd)(s);
}

/* --- lines and planes ------------------------------------------------------------------------- */

/* Whether the lines' elements, `gap` numbers each, are neighbours across whole vectors. */
TNI_INLINE bool TNI_FNT(dft_beside)(const tni_dft_move *v, int64_t gap) {
    if (v->lines != v->side || v->side % W) return false;
    for (int64_t q = 1; q < v->lines; q++)
        if (v->line[q] != v->line[0] + q * gap) return false;
    return true;
}
/* Whether it is a whole group of lines of pairs, G lines, which are 64 bytes of columns. */
enum { TNI_FNT(dft_group) = 64 / sizeof(T) };
#define G TNI_FNT(dft_group)
TNI_INLINE bool TNI_FNT(dft_is_group)(const tni_dft_move *v) {
    return v->side == G && v->lines == G && v->step == 2 && v->apart == 1;
}
/* The first half of G vectors and the second are interleaved: the bits of a number's place rotate
 * by one, so that after log2(G) times G rows of W numbers are W rows of G (M. Pease, "An adaptation
 * of the fast Fourier transform for parallel processing", 1968). */
TNI_INLINE void TNI_FNT(dft_zip)(const T *x, T *y) {
    for (int i = 0; i < G / 2; i++)
        V_ST2(y + 2 * i * W, V_LD(x + i * W), V_LD(x + (i + G / 2) * W));
}
TNI_INLINE void TNI_FNT(dft_unzip)(const T *x, T *y) {
    for (int i = 0; i < G / 2; i++) {
        V a, b;
        V_LD2(x + 2 * i * W, &a, &b);
        V_ST(y + i * W, a);
        V_ST(y + (i + G / 2) * W, b);
    }
}
/* Whole vectors of elements of a group to planes. Returns how many elements. */
static int64_t TNI_FNT(dft_load_group)(const tni_dft_move *v) {
    T r[2][G * W], s[2][G * W];
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_load_group);
    for (; k + W <= v->n; k += W) {
        T *re = (T *)v->re + k * G, *im = (T *)v->im + k * G;
        for (int i = 0; i < G / 2; i++) {
            const T *x = (const T *)v->data + 2 * k;
            V a, b, c, d;
            V_LD2(x + v->line[i], &a, &b);
            V_LD2(x + v->line[i + G / 2], &c, &d);
            V_ST2(r[0] + 2 * i * W, a, c);
            V_ST2(s[0] + 2 * i * W, b, d);
        }
        TNI_FNT(dft_zip)(r[0], r[1]);
        TNI_FNT(dft_zip)(s[0], s[1]);
        if (G == 16) {
            TNI_FNT(dft_zip)(r[1], r[0]);
            TNI_FNT(dft_zip)(s[1], s[0]);
        }
        TNI_FNT(dft_zip)(r[G != 16], re);
        TNI_FNT(dft_zip)(s[G != 16], im);
    }
    return k;
}
/* The same from planes, times scale and im_scale. */
static int64_t TNI_FNT(dft_store_group)(const tni_dft_move *v) {
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    T r[2][G * W], s[2][G * W];
    int64_t k = 0;
    TNI_KERNEL_PATH(dft_store_group);
    for (; k + W <= v->n; k += W) {
        TNI_FNT(dft_unzip)((const T *)v->re + k * G, r[0]);
        TNI_FNT(dft_unzip)((const T *)v->im + k * G, s[0]);
        TNI_FNT(dft_unzip)(r[0], r[1]);
        TNI_FNT(dft_unzip)(s[0], s[1]);
        if (G == 16) {
            TNI_FNT(dft_unzip)(r[1], r[0]);
            TNI_FNT(dft_unzip)(s[1], s[0]);
        }
        for (int i = 0; i < G / 2; i++) {
            T *y = (T *)v->data + 2 * k;
            V a, b, c, d;
            V_LD2(r[G != 16] + 2 * i * W, &a, &b);
            V_LD2(s[G != 16] + 2 * i * W, &c, &d);
            V_ST2(y + v->line[i], V_MUL(a, scale), V_MUL(c, im_scale));
            V_ST2(y + v->line[i + G / 2], V_MUL(b, scale), V_MUL(d, im_scale));
        }
    }
    return k;
}
#undef G
/* Elements k on of line q. */
static void TNI_FNT(dft_load_line)(const tni_dft_move *v, int64_t q, int64_t k) {
    const T *x = (const T *)v->data + v->line[q];
    T *re = (T *)v->re, *im = (T *)v->im;
    for (; k < v->n; k++) {
        re[k * v->side + q] = x[k * v->step];
        im[k * v->side + q] = v->apart ? x[k * v->step + v->apart] : (T)0;
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
    } else if (v->apart == 1 && TNI_FNT(dft_beside)(v, 2)) {
        for (; k < v->n; k++)
            for (int64_t q = 0; q < v->side; q += W) {
                V a, b;
                V_LD2(x + k * v->step + 2 * q, &a, &b);
                V_ST(re + k * v->side + q, a);
                V_ST(im + k * v->side + q, b);
            }
    } else if (TNI_FNT(dft_beside)(v, 1)) {
        for (; k < v->n; k++)
            for (int64_t q = 0; q < v->side; q += W) {
                const T *at = x + k * v->step + q;
                V_ST(re + k * v->side + q, V_LD(at));
                V_ST(im + k * v->side + q, v->apart ? V_LD(at + v->apart) : V_ZERO());
            }
    }
    for (int64_t q = 0; q < v->lines; q++) TNI_FNT(dft_load_line)(v, q, k);
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
static void TNI_FNT(dft_store)(const tni_dft_move *v) {
    enum { TILE = 32 };
    const V scale = V_SET(v->scale), im_scale = V_SET(v->im_scale);
    const T *re = (const T *)v->re, *im = (const T *)v->im;
    T *y = (T *)v->data + (v->lines ? v->line[0] : 0);
    int64_t k = 0;
    if (v->side == 1 && v->step == 2 && v->apart == 1) {
        for (; k + W <= v->n; k += W)
            V_ST2(y + 2 * k, V_MUL(V_LD(re + k), scale), V_MUL(V_LD(im + k), im_scale));
    } else if (TNI_FNT(dft_is_group)(v)) {
        k = TNI_FNT(dft_store_group)(v);
    } else if (v->apart == 1 && TNI_FNT(dft_beside)(v, 2)) {
        for (; k < v->n; k++)
            for (int64_t q = 0; q < v->side; q += W)
                V_ST2(y + k * v->step + 2 * q, V_MUL(V_LD(re + k * v->side + q), scale),
                      V_MUL(V_LD(im + k * v->side + q), im_scale));
    }
    for (; k < v->n; k += TILE)
        for (int64_t q = 0; q < v->lines; q++)
            TNI_FNT(dft_store_line)(v, q, k, v->n - k < TILE ? v->n : k + TILE);
}

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
