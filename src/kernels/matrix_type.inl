/* matrix_type.inl - the loops of matrix.h for one type. */
static void TNI_FNT(column_add)(void *y, const void *x, double a, int64_t n) {
    const V factor = V_SET((T)a);
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        V_STN((T *)y + i, V_FMA(factor, V_LDN((const T *)x + i, k), V_LDN((T *)y + i, k)), k);
    }
}

static double TNI_FNT(column_dot)(const void *x, const void *y, int64_t n) {
    const T *a = (const T *)x, *b = (const T *)y;
    T lane[TNI_DOT_LANES];
    V chain[TNI_DOT_LANES / W];
    int64_t i = 0;
    for (int v = 0; v < TNI_DOT_LANES / W; v++) chain[v] = V_ZERO();
    for (; i + TNI_DOT_LANES <= n; i += TNI_DOT_LANES)
        for (int v = 0; v < TNI_DOT_LANES / W; v++)
            chain[v] = V_FMA(V_LD(a + i + v * W), V_LD(b + i + v * W), chain[v]);
    for (int v = 0; i < n; i += W, v++) {
        const int64_t k = n - i < W ? n - i : W;
        chain[v] = V_FMA(V_LDN(a + i, k), V_LDN(b + i, k), chain[v]);
    }
    for (int v = 0; v < TNI_DOT_LANES / W; v++) V_ST(lane + v * W, chain[v]);
    for (int half = TNI_DOT_LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

#if defined(TNI_TYPE_F64)
/* Four vectors of rows at a time: the column that two rotations share stays in registers. */
static void TNI_FNT(columns_rotate)(double *q, int64_t step, int64_t rows, const double *cs,
                                    int64_t n) {
    int64_t i = 0;
    for (; i + 4 * W <= rows; i += 4 * W) {
        double *x = q + i;
        V a = V_LD(x), b = V_LD(x + W), d = V_LD(x + 2 * W), e = V_LD(x + 3 * W);
        for (int64_t k = 0; k < n; k++, x += step) {
            const V c = V_SET(cs[2 * k]), s = V_SET(cs[2 * k + 1]), m = V_SET(-cs[2 * k + 1]);
            const double *y = x + step;
            const V p = V_LD(y), r = V_LD(y + W), t = V_LD(y + 2 * W), u = V_LD(y + 3 * W);
            V_ST(x, V_FMA(c, a, V_MUL(s, p))), V_ST(x + W, V_FMA(c, b, V_MUL(s, r)));
            V_ST(x + 2 * W, V_FMA(c, d, V_MUL(s, t))), V_ST(x + 3 * W, V_FMA(c, e, V_MUL(s, u)));
            a = V_FMA(c, p, V_MUL(m, a)), b = V_FMA(c, r, V_MUL(m, b));
            d = V_FMA(c, t, V_MUL(m, d)), e = V_FMA(c, u, V_MUL(m, e));
        }
        V_ST(x, a), V_ST(x + W, b), V_ST(x + 2 * W, d), V_ST(x + 3 * W, e);
    }
    for (; i < rows; i += W) {
        const int64_t lanes = rows - i < W ? rows - i : W;
        double *x = q + i;
        V a = V_LDN(x, lanes);
        for (int64_t k = 0; k < n; k++, x += step) {
            const V c = V_SET(cs[2 * k]), s = V_SET(cs[2 * k + 1]), m = V_SET(-cs[2 * k + 1]);
            const V p = V_LDN(x + step, lanes);
            V_STN(x, V_FMA(c, a, V_MUL(s, p)), lanes);
            a = V_FMA(c, p, V_MUL(m, a));
        }
        V_STN(x, a, lanes);
    }
}

/* One turn of a and b (both parts of a column) with the next column at p and q: c and d are what
 * the first one loses. */
#define TURN(a, b, p, q, x, y, LOAD, STORE)                                                        \
    do {                                                                                           \
        const V p = LOAD((x) + step), q = LOAD((y) + step);                                        \
        const V c = V_ADD(V_SUB(V_MUL(tr, a), V_MUL(ti, b)), V_MUL(t2, p));                        \
        const V d = V_ADD(V_ADD(V_MUL(tr, b), V_MUL(ti, a)), V_MUL(t2, q));                        \
        STORE(x, V_SUB(a, c));                                                                     \
        STORE(y, V_SUB(b, d));                                                                     \
        a = V_SUB(p, V_ADD(V_MUL(c, vr), V_MUL(d, vi)));                                           \
        b = V_SUB(q, V_SUB(V_MUL(d, vr), V_MUL(c, vi)));                                           \
    } while (0)
#define TURN_NUMBERS                                                                               \
    const V tr = V_SET(turn[5 * k]), ti = V_SET(turn[5 * k + 1]), vr = V_SET(turn[5 * k + 2]),     \
            vi = V_SET(turn[5 * k + 3]), t2 = V_SET(turn[5 * k + 4])
#define LOAD_LANES(at) V_LDN(at, lanes)
#define STORE_LANES(at, v) V_STN(at, v, lanes)
/* Two vectors of rows at a time. */
static void TNI_FNT(columns_reflect)(double *re, double *im, int64_t step, int64_t rows,
                                     const double *turn, int64_t n) {
    int64_t i = 0;
    for (; i + 2 * W <= rows; i += 2 * W) {
        double *x = re + i, *y = im + i;
        V a = V_LD(x), b = V_LD(y), e = V_LD(x + W), f = V_LD(y + W);
        for (int64_t k = 0; k < n; k++, x += step, y += step) {
            TURN_NUMBERS;
            TURN(a, b, p, q, x, y, V_LD, V_ST);
            TURN(e, f, p, q, x + W, y + W, V_LD, V_ST);
        }
        V_ST(x, a), V_ST(y, b), V_ST(x + W, e), V_ST(y + W, f);
    }
    for (; i < rows; i += W) {
        const int64_t lanes = rows - i < W ? rows - i : W;
        double *x = re + i, *y = im + i;
        V a = V_LDN(x, lanes), b = V_LDN(y, lanes);
        for (int64_t k = 0; k < n; k++, x += step, y += step) {
            TURN_NUMBERS;
            TURN(a, b, p, q, x, y, LOAD_LANES, STORE_LANES);
        }
        V_STN(x, a, lanes), V_STN(y, b, lanes);
    }
}
#undef TURN
#undef TURN_NUMBERS
#undef LOAD_LANES
#undef STORE_LANES

/* One turn of a and b (a column and the next one) with the column after them at p. */
#define TURN(a, b, p, x, LOAD, STORE)                                                              \
    do {                                                                                           \
        const V p = LOAD((x) + 2 * step), u = V_ADD(V_ADD(a, V_MUL(v1, b)), V_MUL(v2, p));         \
        STORE(x, V_SUB(a, V_MUL(u, tau)));                                                         \
        a = V_SUB(b, V_MUL(u, t1));                                                                \
        b = V_SUB(p, V_MUL(u, t2));                                                                \
    } while (0)
#define TURN_NUMBERS                                                                               \
    const V v1 = V_SET(turn[6 * k]), v2 = V_SET(turn[6 * k + 1]), tau = V_SET(turn[6 * k + 2]),    \
            t1 = V_SET(turn[6 * k + 3]), t2 = V_SET(turn[6 * k + 4])
#define LOAD_LANES(at) V_LDN(at, lanes)
#define STORE_LANES(at, v) V_STN(at, v, lanes)
static void TNI_FNT(columns_reflect3)(double *q, int64_t step, int64_t rows, const double *turn,
                                      int64_t n) {
    int64_t i = 0;
    for (; i + 4 * W <= rows; i += 4 * W) {
        double *x = q + i;
        V a = V_LD(x), b = V_LD(x + step), c = V_LD(x + W), d = V_LD(x + step + W);
        V e = V_LD(x + 2 * W), f = V_LD(x + step + 2 * W), g = V_LD(x + 3 * W),
          h = V_LD(x + step + 3 * W);
        for (int64_t k = 0; k < n; k++, x += step) {
            TURN_NUMBERS;
            TURN(a, b, p, x, V_LD, V_ST);
            TURN(c, d, p, x + W, V_LD, V_ST);
            TURN(e, f, p, x + 2 * W, V_LD, V_ST);
            TURN(g, h, p, x + 3 * W, V_LD, V_ST);
        }
        V_ST(x, a), V_ST(x + step, b), V_ST(x + W, c), V_ST(x + step + W, d);
        V_ST(x + 2 * W, e), V_ST(x + step + 2 * W, f);
        V_ST(x + 3 * W, g), V_ST(x + step + 3 * W, h);
    }
    for (; i < rows; i += W) {
        const int64_t lanes = rows - i < W ? rows - i : W;
        double *x = q + i;
        V a = V_LDN(x, lanes), b = V_LDN(x + step, lanes);
        for (int64_t k = 0; k < n; k++, x += step) {
            TURN_NUMBERS;
            TURN(a, b, p, x, LOAD_LANES, STORE_LANES);
        }
        V_STN(x, a, lanes), V_STN(x + step, b, lanes);
    }
}
#undef TURN
#undef TURN_NUMBERS
#undef LOAD_LANES
#undef STORE_LANES
#endif
