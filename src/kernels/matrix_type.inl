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
