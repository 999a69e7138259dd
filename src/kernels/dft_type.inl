/* dft_type.inl - the stages of dft.h, for f64. */

/* re + i im times c + i d, as dft_stages.inl multiplies: no product is fused. */
#define DFT_RE(re, im, c, d) V_SUB(V_MUL(re, c), V_MUL(im, d))
#define DFT_IM(re, im, c, d) V_ADD(V_MUL(re, d), V_MUL(im, c))
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

static void TNI_FNT(dft_stage2)(const tni_dft_stage *s) {
    for (int64_t p = 0; p < s->m; p++) {
        const V c = V_SET(s->re[p * s->p_step]), d = V_SET(s->im[p * s->p_step]);
        for (int64_t q = 0; q < s->wide; q++) {
            const int64_t a = (p * s->wide + q) * s->x_step, b = a + s->m * s->wide * s->x_step;
            const int64_t to = (2 * p * s->wide + q) * s->y_step, next = s->wide * s->y_step;
            DFT_COLUMNS {
                const V ar = DFT_GET(s->xr + a + l), ai = DFT_GET(s->xi + a + l);
                const V br = DFT_GET(s->xr + b + l), bi = DFT_GET(s->xi + b + l);
                const V ur = V_SUB(ar, br), ui = V_SUB(ai, bi);
                DFT_PUT(s->yr + to + l, V_ADD(ar, br));
                DFT_PUT(s->yi + to + l, V_ADD(ai, bi));
                DFT_PUT(s->yr + to + next + l, DFT_RE(ur, ui, c, d));
                DFT_PUT(s->yi + to + next + l, DFT_IM(ur, ui, c, d));
            }
        }
    }
}
/* Columns l on of group p, with what their powers 1, 2, 3 are multiplied by. */
static void TNI_FNT(dft_stage4)(const tni_dft_stage *s, int64_t p, int64_t l, const V *c,
                                const V *d) {
    const int64_t left = s->side - l, x = s->m * s->wide * s->x_step, y = s->wide * s->y_step;
    for (int64_t q = 0; q < s->wide; q++) {
        const double *xr = s->xr + (p * s->wide + q) * s->x_step + l,
                     *xi = s->xi + (p * s->wide + q) * s->x_step + l;
        double *yr = s->yr + (4 * p * s->wide + q) * s->y_step + l,
               *yi = s->yi + (4 * p * s->wide + q) * s->y_step + l;
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
    for (int64_t p = 0; p < s->m; p++) {
        V c[3], d[3];
        for (int k = 0; k < 3 && !s->each; k++) {
            c[k] = V_SET(s->re[(k + 1) * p * s->p_step]);
            d[k] = V_SET(s->im[(k + 1) * p * s->p_step]);
        }
        DFT_COLUMNS {
            for (int k = 0; k < 3 && s->each; k++) {
                c[k] = DFT_GET(s->re + k * s->k_step + p * s->p_step + l);
                d[k] = DFT_GET(s->im + k * s->k_step + p * s->p_step + l);
            }
            TNI_FNT(dft_stage4)(s, p, l, c, d);
        }
    }
}
/* Power k of columns l on of group p, of row q, by its definition. */
static void TNI_FNT(dft_power)(const tni_dft_stage *s, int64_t p, int64_t k, int64_t q, int64_t l) {
    const int64_t left = s->side - l, root = k * p * s->p_step;
    const int64_t to = ((s->r * p + k) * s->wide + q) * s->y_step + l;
    V yr = V_ZERO(), yi = V_ZERO();
    for (int64_t j = 0; j < s->r; j++) {
        const int64_t at = ((p + s->m * j) * s->wide + q) * s->x_step + l,
                      w = j * k % s->r * (s->n / s->r);
        V re = DFT_GET(s->xr + at), im = DFT_GET(s->xi + at);
        if (w) { /* an infinity times 0 would be NaN */
            const V e = V_SET(s->re[w]), g = V_SET(s->im[w]), part = DFT_RE(re, im, e, g);
            im = DFT_IM(re, im, e, g);
            re = part;
        }
        yr = j ? V_ADD(yr, re) : re;
        yi = j ? V_ADD(yi, im) : im;
    }
    if (p > 0 && k > 0) {
        const V c = V_SET(s->re[root]), d = V_SET(s->im[root]), part = DFT_RE(yr, yi, c, d);
        yi = DFT_IM(yr, yi, c, d);
        yr = part;
    }
    DFT_PUT(s->yr + to, yr);
    DFT_PUT(s->yi + to, yi);
}
static void TNI_FNT(dft_stage)(const tni_dft_stage *s) {
    if (s->r == 4) {
        TNI_FNT(dft_stages4)(s);
        return;
    }
    if (s->r == 2) {
        TNI_FNT(dft_stage2)(s);
        return;
    }
    for (int64_t p = 0; p < s->m; p++)
        for (int64_t k = 0; k < s->r; k++)
            for (int64_t q = 0; q < s->wide; q++)
                for (int64_t l = 0; l < s->side; l += W) TNI_FNT(dft_power)(s, p, k, q, l);
}

/* The series of dft_stages.inl, a vector of angles at a time. */
static void TNI_FNT(dft_eighth)(double *c, double *s, int64_t n) {
    static const double sine[] = {1.0 / 355687428096000.0,
                                  -1.0 / 1307674368000.0,
                                  1.0 / 6227020800.0,
                                  -1.0 / 39916800,
                                  1.0 / 362880,
                                  -1.0 / 5040,
                                  1.0 / 120,
                                  -1.0 / 6};
    static const double cosine[] = {-1.0 / 6402373705728000.0,
                                    1.0 / 20922789888000.0,
                                    -1.0 / 87178291200.0,
                                    1.0 / 479001600,
                                    -1.0 / 3628800,
                                    1.0 / 40320,
                                    -1.0 / 720,
                                    1.0 / 24,
                                    -0.5,
                                    1.0};
    const V step = V_SET(0.78539816339744830961566), whole = V_SET((double)n); /* pi / 4 */
    for (int64_t k = 0; k <= n / 8; k += W) {
        const int64_t left = n / 8 + 1 - k;
        double part[W];
        for (int64_t i = 0; i < W; i++) part[i] = (double)(8 * (k + i));
        const V x = V_MUL(step, V_DIV(V_LD(part), whole)), z = V_MUL(x, x);
        V p = V_SET(sine[0]), r = V_SET(cosine[0]);
        for (int i = 1; i < 8; i++) p = V_FMA(z, p, V_SET(sine[i]));
        for (int i = 1; i < 10; i++) r = V_FMA(z, r, V_SET(cosine[i]));
        p = V_FMA(V_MUL(x, z), p, x);
        DFT_PUT(s + k, p);
        DFT_PUT(c + k, r);
    }
}

#undef DFT_RE
#undef DFT_IM
#undef DFT_COLUMNS
#undef DFT_GET
#undef DFT_PUT
