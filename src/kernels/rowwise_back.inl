/* rowwise_back.inl - the backward loops of rowwise.h. A vector of columns at a time, down the rows.
 */
#define ROW_COLUMNS for (int64_t c = 0, m; m = r->n - c < W ? r->n - c : W, c < r->n; c += W)
#define ROW_AT(field, i) \
    V_LDN((const char *)r->field + (i)*r->field##_step + c * (int64_t)sizeof(T), m)
#define ROW_OF(field) V_LDN((const T *)r->field + c, m)

static void TNI_FNT(dot_rows)(const tni_sweep *r) {
    ROW_COLUMNS {
        V sum = ROW_OF(one);
        for (int64_t i = 0; i < r->rows; i++)
            sum = r->x ? V_FMA(ROW_AT(dy, i), ROW_AT(x, i), sum) : V_ADD(sum, ROW_AT(dy, i));
        V_PUT((T *)r->one + c, sum, m);
    }
}

static void TNI_FNT(soft_back_rows)(const tni_sweep *r, bool log) {
    ROW_COLUMNS {
        V scale = ROW_OF(scale);
        for (int64_t i = 0; i < r->rows; i++) {
            V x = ROW_AT(x, i), d = ROW_AT(dy, i);
            d = log ? V_FNMA(V_EXP(x), scale, d) : V_MUL(x, V_SUB(d, scale));
            V_PUT((char *)r->y + i * r->y_step + c * (int64_t)sizeof(T), d, m);
        }
    }
}

#if TNI_ISA == 2
#define soft_back_each_f32_avx512 soft_back_each_f32_avx2
#else
static void TNI_FNT(soft_back_each)(const tni_sweep *r, bool log) {
    const T *x = (const T *)r->x, *dy = (const T *)r->dy;
    T *y = (T *)r->y;
    const int64_t n = r->n, rows = r->rows, step = r->x_step / (int64_t)sizeof(T);
    for (int64_t i = 0; i < rows; i++, x += step, dy += step, y += step) {
        const V scale = V_SET(((const T *)r->scale)[i]);
        for (int64_t c = 0, m; m = n - c < W ? n - c : W, c < n; c += W) {
            V a = m == W ? V_LD(x + c) : V_LDN(x + c, m),
              d = m == W ? V_LD(dy + c) : V_LDN(dy + c, m);
            d = log ? V_FNMA(V_EXP(a), scale, d) : V_MUL(a, V_SUB(d, scale));
            V_PUT(y + c, d, m);
        }
    }
}
#endif

static void TNI_FNT(moments_rows)(const tni_sweep *r) {
    ROW_COLUMNS {
        V mean = ROW_OF(mean), one = ROW_OF(one), two = ROW_OF(two);
        for (int64_t i = 0; i < r->rows; i++) {
            V d = ROW_AT(dy, i);
            one = V_ADD(one, d);
            two = V_FMA(d, V_SUB(ROW_AT(x, i), mean), two);
        }
        V_PUT((T *)r->one + c, one, m);
        V_PUT((T *)r->two + c, two, m);
    }
}

static void TNI_FNT(affine_back_rows)(const tni_sweep *r) {
    ROW_COLUMNS {
        V mean = ROW_OF(mean), scale = ROW_OF(scale), bias = ROW_OF(bias), one = ROW_OF(one);
        for (int64_t i = 0; i < r->rows; i++) {
            V v = V_FMA(ROW_AT(dy, i), scale, V_FMA(V_SUB(ROW_AT(x, i), mean), bias, one));
            V_PUT((char *)r->y + i * r->y_step + c * (int64_t)sizeof(T), v, m);
        }
    }
}

/* n <= TNI_BLOCK: lane l takes elements l, l + 64, ... */
static void TNI_FNT(norm_moments)(const tni_norm_row *r) {
    enum { LANES = TNI_LANE_BYTES / sizeof(T) };
    V mean = V_SET(r->mean), scale = V_SET(r->scale);
    ROW_COLUMNS {
        T *one = (T *)r->one + c % LANES, *two = (T *)r->two + c % LANES;
        V h = V_MUL(V_SUB(ROW_OF(x), mean), scale), g = ROW_OF(dy);
        if (r->weight) g = V_MUL(g, ROW_OF(weight));
        V_PUT(one, V_ADD(V_LDN(one, m), g), m);
        V_PUT(two, V_FMA(g, h, V_LDN(two, m)), m);
    }
}

static void TNI_FNT(norm_back)(const tni_norm_row *r) {
    V mean = V_SET(r->mean), scale = V_SET(r->scale), a = V_SET(r->a), b = V_SET(r->b);
    ROW_COLUMNS {
        V h = V_MUL(V_SUB(ROW_OF(x), mean), scale), g = ROW_OF(dy);
        if (r->weight) g = V_MUL(g, ROW_OF(weight));
        V_PUT((T *)r->y + c, V_MUL(scale, V_FNMA(h, b, V_SUB(g, a))), m);
    }
}

static void TNI_FNT(norm_weights)(const tni_norm_row *r) {
    V mean = V_SET(r->mean), scale = V_SET(r->scale);
    ROW_COLUMNS {
        V h = V_MUL(V_SUB(ROW_OF(x), mean), scale), d = ROW_OF(dy);
        V_PUT((T *)r->one + c, V_FMA(d, h, ROW_OF(one)), m);
        V_PUT((T *)r->two + c, V_ADD(ROW_OF(two), d), m);
    }
}

#undef ROW_COLUMNS
#undef ROW_AT
#undef ROW_OF
