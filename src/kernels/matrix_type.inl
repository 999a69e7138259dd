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
#endif
