/* rowwise_type.inl - the forward loops of rowwise.h for one type. A vector of columns at a time,
 * down the rows. */
#define ROW_COLUMNS for (int64_t c = 0, m; m = r->n - c < W ? r->n - c : W, c < r->n; c += W)
#define ROW_AT(field, i) ((const char *)r->field + (i)*r->field##_step + c * (int64_t)sizeof(T))
#define ROW_OF(field) V_LDN((const T *)r->field + c, m)
static void TNI_FNT(exp_rows)(const tni_sweep *r) {
    ROW_COLUMNS {
        V mean = ROW_OF(mean), sum = ROW_OF(one);
        char *y = r->y ? (char *)r->y + c * (int64_t)sizeof(T) : NULL;
        for (int64_t i = 0; i < r->rows; i++) {
            V e = V_EXP(V_SUB(V_LDN(ROW_AT(x, i), m), mean));
            sum = V_ADD(sum, e);
            if (y) V_PUT(y + i * r->y_step, e, m);
        }
        V_PUT((T *)r->one + c, sum, m);
    }
}

static void TNI_FNT(soft_rows)(const tni_sweep *r, int kind) {
    ROW_COLUMNS {
        V scale = ROW_OF(scale), mean = kind == TNI_SOFT_SCALE ? scale : ROW_OF(mean);
        char *y = (char *)r->y + c * (int64_t)sizeof(T);
        for (int64_t i = 0; i < r->rows; i++) {
            V v = V_LDN(ROW_AT(x, i), m);
            if (kind == TNI_SOFT_SCALE)
                v = V_MUL(v, scale);
            else if (kind == TNI_SOFT_SHIFT)
                v = V_SUB(V_SUB(v, mean), scale);
            else
                v = V_MUL(V_EXP(V_SUB(v, mean)), scale);
            V_PUT(y + i * r->y_step, v, m);
        }
    }
}

#if TNI_ISA == 2 /* few rows fill its vectors */
#define soft_each_f32_avx512 soft_each_f32_avx2
#define soft_each_f64_avx512 soft_each_f64_avx2
#else
static void TNI_FNT(soft_each)(const tni_sweep *r, int kind) {
    const char *x = (const char *)r->x;
    char *y = (char *)r->y;
    const int64_t n = r->n, rows = r->rows, x_step = r->x_step, y_step = r->y_step;
    for (int64_t i = 0; i < rows; i++, x += x_step, y += y_step) {
        const V mean = V_SET(((const T *)r->mean)[i]), scale = V_SET(((const T *)r->scale)[i]);
        for (int64_t c = 0, m; m = n - c < W ? n - c : W, c < n; c += W) {
            V v = V_LDN((const T *)(const void *)x + c, m);
            if (kind == TNI_SOFT_SCALE)
                v = V_MUL(v, scale);
            else if (kind == TNI_SOFT_SHIFT)
                v = V_SUB(V_SUB(v, mean), scale);
            else
                v = V_EXP(V_SUB(v, mean));
            V_PUT((T *)(void *)y + c, v, m);
        }
    }
}
#endif

static void TNI_FNT(log)(void *x, int64_t n) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V_PUT((T *)x + i, V_LOG(V_LDN((T *)x + i, m)), m);
    }
}

static void TNI_FNT(affine_rows)(const tni_sweep *r) {
    ROW_COLUMNS {
        V mean = ROW_OF(mean), scale = ROW_OF(scale), bias = ROW_OF(bias);
        char *y = (char *)r->y + c * (int64_t)sizeof(T);
        for (int64_t i = 0; i < r->rows; i++)
            V_PUT(y + i * r->y_step, V_FMA(V_SUB(V_LDN(ROW_AT(x, i), m), mean), scale, bias),
                  m);
    }
}

static void TNI_FNT(norm_row)(const tni_norm_row *r) {
    V mean = V_SET(r->mean), scale = V_SET(r->scale);
    ROW_COLUMNS {
        V v = V_MUL(V_SUB(ROW_OF(x), mean), scale);
        if (r->weight && r->bias)
            v = V_FMA(v, ROW_OF(weight), ROW_OF(bias));
        else if (r->weight)
            v = V_MUL(v, ROW_OF(weight));
        else if (r->bias)
            v = V_ADD(v, ROW_OF(bias));
        V_PUT((T *)r->y + c, v, m);
    }
}

#undef ROW_COLUMNS
#undef ROW_AT
#undef ROW_OF
