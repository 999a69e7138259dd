/* reduce_type.inl - the loops of reduce.h for one type.
 *
 * The columns are taken in strips of RED_EACH vectors that stay in registers over all rows; what is left goes
 * a vector at a time, the last one masked. A column's chain is the same in either. */
#if TNI_ISA == 2
#define RED_EACH(X) X(0) X(1) X(2) X(3)
enum { TNI_FNT(red_strip) = 4 * W };
#else
#define RED_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
enum { TNI_FNT(red_strip) = 8 * W };
#endif
#define RED_LOAD(i) V a##i = V_LD(acc + c + i * W);
#define RED_STORE(i) V_ST(acc + c + i * W, a##i);

#define RED_ROWS(name, STEP)                                                                                 \
    static void TNI_FNT(name)(const void *x, int64_t step, int64_t rows, int64_t n, void *to) {              \
        T *acc = (T *)to;                                                                                    \
        int64_t c = 0, r;                                                                                    \
        for (; c + TNI_FNT(red_strip) <= n; c += TNI_FNT(red_strip)) {                                       \
            const char *p = (const char *)x + c * (int64_t)sizeof(T);                                        \
            RED_EACH(RED_LOAD)                                                                               \
            for (r = 0; r < rows; r++, p += step) { RED_EACH(STEP##_I) }                                     \
            RED_EACH(RED_STORE)                                                                              \
        }                                                                                                    \
        for (; c < n; c += W) {                                                                              \
            const char *p = (const char *)x + c * (int64_t)sizeof(T);                                        \
            int64_t m = n - c < W ? n - c : W;                                                               \
            V a = V_LDN(acc + c, m);                                                                         \
            for (r = 0; r < rows; r++, p += step) {                                                          \
                V v = V_LDN(p, m);                                                                           \
                a = STEP(a, v);                                                                              \
            }                                                                                                \
            V_STN(acc + c, a, m);                                                                            \
        }                                                                                                    \
    }
#define RED_AT(i) V_LD(p + i * W * (int64_t)sizeof(T))

#define RED_SUM(a, v) V_ADD(a, v)
#define RED_SUM_I(i) a##i = V_ADD(a##i, RED_AT(i));
#define RED_PROD(a, v) V_MUL(a, v)
#define RED_PROD_I(i) a##i = V_MUL(a##i, RED_AT(i));
#if TNI_FLOATING
#define RED_MAX(a, v) V_SEL(M_OR(V_GT(v, a), V_NE(v, v)), v, a)
#define RED_MIN(a, v) V_SEL(M_OR(V_LT(v, a), V_NE(v, v)), v, a)
#else
#define RED_MAX(a, v) V_SEL(V_GT(v, a), v, a)
#define RED_MIN(a, v) V_SEL(V_LT(v, a), v, a)
#endif
#define RED_MAX_I(i) { V v = RED_AT(i); a##i = RED_MAX(a##i, v); }
#define RED_MIN_I(i) { V v = RED_AT(i); a##i = RED_MIN(a##i, v); }

RED_ROWS(sum_rows, RED_SUM)
RED_ROWS(prod_rows, RED_PROD)
RED_ROWS(max_rows, RED_MAX)
RED_ROWS(min_rows, RED_MIN)

/* A later element is chosen when it is better, or the first NaN. */
#if TNI_FLOATING
#define RED_BETTER(CMP, v, a) M_OR(CMP(v, a), M_AND(V_NE(v, v), V_EQ(a, a)))
#else
#define RED_BETTER(CMP, v, a) CMP(v, a)
#endif
#define RED_ARG(name, CMP)                                                                                   \
    static void TNI_FNT(name)(const void *x, int64_t step, int64_t rows, int64_t n, int64_t first,           \
                              void *value, void *index) {                                                    \
        for (int64_t c = 0; c < n; c += W) {                                                                 \
            const char *p = (const char *)x + c * (int64_t)sizeof(T);                                        \
            int64_t m = n - c < W ? n - c : W;                                                               \
            V a = V_LDN((T *)value + c, m), k = V_LDN((T *)index + c, m), at = V_SET(first);                 \
            for (int64_t r = 0; r < rows; r++, p += step) {                                                  \
                V v = V_LDN(p, m);                                                                           \
                M better = RED_BETTER(CMP, v, a);                                                            \
                a = V_SEL(better, v, a);                                                                     \
                k = V_SEL(better, at, k);                                                                    \
                at = V_ADD(at, V_SET(1));                                                                    \
            }                                                                                                \
            V_STN((T *)value + c, a, m);                                                                     \
            V_STN((T *)index + c, k, m);                                                                     \
        }                                                                                                    \
    }
RED_ARG(argmax_rows, V_GT)
RED_ARG(argmin_rows, V_LT)

#if TNI_FLOATING
static void TNI_FNT(deviation_rows)(const void *x, int64_t step, int64_t rows, int64_t n, const void *mean,
                                    void *one, void *two) {
    for (int64_t c = 0; c < n; c += 2 * W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T);
        int64_t m = n - c < W ? n - c : W, w = n - c - W < 0 ? 0 : n - c - W < W ? n - c - W : W;
        V m0 = V_LDN((const T *)mean + c, m), a0 = V_LDN((T *)one + c, m), b0 = V_LDN((T *)two + c, m);
        V m1 = V_LDN((const T *)mean + c + W, w), a1 = V_LDN((T *)one + c + W, w), b1 = V_LDN((T *)two + c + W, w);
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

static void TNI_FNT(dot_rows)(const void *x, const void *y, int64_t step, int64_t rows, int64_t n, void *to) {
    T *acc = (T *)to;
    for (int64_t c = 0; c < n; c += 4 * W) {
        const char *p = (const char *)x + c * (int64_t)sizeof(T), *q = (const char *)y + c * (int64_t)sizeof(T);
        int64_t left = n - c, r;
        if (left >= 4 * W) {
            V a0 = V_LD(acc + c), a1 = V_LD(acc + c + W), a2 = V_LD(acc + c + 2 * W), a3 = V_LD(acc + c + 3 * W);
            for (r = 0; r < rows; r++, p += step, q += step) {
                a0 = V_FMA(V_LD(p), V_LD(q), a0);
                a1 = V_FMA(V_LD(p + W * sizeof(T)), V_LD(q + W * sizeof(T)), a1);
                a2 = V_FMA(V_LD(p + 2 * W * sizeof(T)), V_LD(q + 2 * W * sizeof(T)), a2);
                a3 = V_FMA(V_LD(p + 3 * W * sizeof(T)), V_LD(q + 3 * W * sizeof(T)), a3);
            }
            V_ST(acc + c, a0);
            V_ST(acc + c + W, a1);
            V_ST(acc + c + 2 * W, a2);
            V_ST(acc + c + 3 * W, a3);
            continue;
        }
        for (int64_t e = 0; e < left; e += W) {
            int64_t m = left - e < W ? left - e : W, at = e * (int64_t)sizeof(T);
            V a = V_LDN(acc + c + e, m);
            for (r = 0; r < rows; r++) a = V_FMA(V_LDN(p + at + r * step, m), V_LDN(q + at + r * step, m), a);
            V_STN(acc + c + e, a, m);
        }
    }
}

static void TNI_FNT(map)(void *x, int64_t n, int kind, double p) {
    T *at = (T *)x;
    V power = V_SET(p);
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V v = V_LDN(at + i, m);
        switch (kind) {
        case TNI_MAP_ABS: v = V_ABS(v); break;
        case TNI_MAP_SQUARE: v = V_MUL(v, v); break;
        case TNI_MAP_POWER: v = V_POW(V_ABS(v), power); break;
        case TNI_MAP_NONZERO: v = V_SEL(V_NE(v, V_ZERO()), V_ONE, V_ZERO()); break;
        case TNI_MAP_EXP: v = V_EXP(V_SUB(v, power)); break;
        default: break;
        }
        V_STN(at + i, v, m);
    }
}
#endif

#undef RED_EACH
#undef RED_LOAD
#undef RED_STORE
#undef RED_ROWS
#undef RED_AT
#undef RED_SUM
#undef RED_SUM_I
#undef RED_PROD
#undef RED_PROD_I
#undef RED_MAX
#undef RED_MAX_I
#undef RED_MIN
#undef RED_MIN_I
#undef RED_BETTER
#undef RED_ARG
