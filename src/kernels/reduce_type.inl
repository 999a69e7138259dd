/* reduce_type.inl - the loops of reduce.h for one type: rows are added to, or compared with, a row
 * of results, so that each column is a chain of its own.
 *
 * The columns are taken in strips of four vectors that stay in registers over all rows; what is
 * left goes a vector at a time, the last one masked. A column's chain is the same in either. */
#define RED_EACH(X) X(0) X(1) X(2) X(3)
#define RED_LOAD(i) V a##i = V_LD(acc + c + i * W);
#define RED_STORE(i) V_ST(acc + c + i * W, a##i);
#define RED_AT(i) V_LD(p + i * W * (int64_t)sizeof(T))

static void TNI_FNT(sum_rows)(const void *x, int64_t step, int64_t rows, int64_t n, void *to) {
    T *acc = (T *)to;
    int64_t c = 0, r;
#define RED_ADD(i) a##i = V_ADD(a##i, RED_AT(i));
    for (; c + 4 * W <= n; c += 4 * W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        RED_EACH(RED_LOAD)
        for (r = 0; r < rows; r++, p += step) {
            RED_EACH(RED_ADD)
        }
        RED_EACH(RED_STORE)
    }
#undef RED_ADD
    if (c > 0) TNI_KERNEL_PATH(sum_rows_strips);
    if (c < n) TNI_KERNEL_PATH(sum_rows_rest);
    for (; c < n; c += W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        int64_t m = n - c < W ? n - c : W;
        V a = V_LDN(acc + c, m);
        for (r = 0; r < rows; r++, p += step) a = V_ADD(a, V_LDN(p, m));
        V_STN(acc + c, a, m);
    }
}

/* The smallest is the largest of -x. A NaN wins against numbers; of two NaNs the first one stays in
 * RED_BETTER, whose index counts. */
#define RED_FLIP(v) V_XOR(v, flip)
#define RED_MAX(a, v) V_SEL(M_OR(V_GT(v, a), V_NE(v, v)), v, a)
#define RED_BETTER(v, a) M_OR(V_GT(v, a), M_AND(V_NE(v, v), V_EQ(a, a)))
static void TNI_FNT(extreme_rows)(const void *x, int64_t step, int64_t rows, int64_t n, bool least,
                                  void *to) {
    T *acc = (T *)to;
    int64_t c = 0, r;
    V flip = least ? V_SET(-0.0) : V_ZERO();
#define RED_LOAD_FLIP(i) V a##i = RED_FLIP(V_LD(acc + c + i * W));
#define RED_STORE_FLIP(i) V_ST(acc + c + i * W, RED_FLIP(a##i));
#define RED_STEP(i)                \
    {                              \
        V v = RED_FLIP(RED_AT(i)); \
        a##i = RED_MAX(a##i, v);   \
    }
    for (; c + 4 * W <= n; c += 4 * W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        RED_EACH(RED_LOAD_FLIP)
        for (r = 0; r < rows; r++, p += step) {
            RED_EACH(RED_STEP)
        }
        RED_EACH(RED_STORE_FLIP)
    }
    if (c > 0) TNI_KERNEL_PATH(extreme_rows_strips);
    if (c < n) TNI_KERNEL_PATH(extreme_rows_rest);
    for (; c < n; c += W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        int64_t m = n - c < W ? n - c : W;
        V a = RED_FLIP(V_LDN(acc + c, m));
        for (r = 0; r < rows; r++, p += step) {
            V v = RED_FLIP(V_LDN(p, m));
            a = RED_MAX(a, v);
        }
        V_STN(acc + c, RED_FLIP(a), m);
    }
#undef RED_LOAD_FLIP
#undef RED_STORE_FLIP
#undef RED_STEP
}
/* A later element is chosen when it is better, or the first NaN. */
static void TNI_FNT(arg_rows)(const void *x, int64_t step, int64_t rows, int64_t n, int64_t first,
                              bool least, void *value, void *index) {
    V flip = least ? V_SET(-0.0) : V_ZERO();
    for (int64_t c = 0; c < n; c += W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        int64_t m = n - c < W ? n - c : W;
        V a = RED_FLIP(V_LDN((T *)value + c, m)), k = V_LDN((T *)index + c, m), at = V_SET(first);
        for (int64_t r = 0; r < rows; r++, p += step) {
            V v = RED_FLIP(V_LDN(p, m));
            M better = RED_BETTER(v, a);
            a = V_SEL(better, v, a);
            k = V_SEL(better, at, k);
            at = V_ADD(at, V_SET(1));
        }
        V_STN((T *)value + c, RED_FLIP(a), m);
        V_STN((T *)index + c, k, m);
    }
}

/* Two strips at a time. The sum of deviations corrects the rounded mean (statistics.c). */
static void TNI_FNT(deviation_rows)(const void *x, int64_t step, int64_t rows, int64_t n,
                                    const void *mean, void *one, void *two) {
    for (int64_t c = 0; c < n; c += 2 * W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        int64_t m = n - c < W ? n - c : W, w = n - c - W < 0 ? 0 : n - c - W < W ? n - c - W : W;
        V m0 = V_LDN((const T *)mean + c, m), a0 = V_LDN((T *)one + c, m),
          b0 = V_LDN((T *)two + c, m);
        V m1 = V_LDN((const T *)mean + c + W, w), a1 = V_LDN((T *)one + c + W, w),
          b1 = V_LDN((T *)two + c + W, w);
        for (int64_t r = 0; r < rows; r++, p += step) {
            V d0 = V_SUB(V_LDN(p, m), m0), d1 = V_SUB(V_LDN(p + W * sizeof(T), w), m1);
            a0 = V_ADD(a0, d0);
            b0 = V_FMA(d0, d0, b0);
            a1 = V_ADD(a1, d1);
            b1 = V_FMA(d1, d1, b1);
        }
        V_STN((T *)one + c, a0, m);
        V_STN((T *)two + c, b0, m);
        V_STN((T *)one + c + W, a1, w);
        V_STN((T *)two + c + W, b1, w);
    }
}

static void TNI_FNT(power)(void *x, int64_t n, double p) {
    T *at = (T *)x;
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V_STN(at + i, V_POW(V_ABS(V_LDN(at + i, m)), V_SET(p)), m);
    }
}

#undef RED_EACH
#undef RED_LOAD
#undef RED_STORE
#undef RED_AT
#undef RED_FLIP
#undef RED_MAX
#undef RED_BETTER
