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

/* Rows of a block each, `step` bytes apart, in the lanes and folds of cpu/fold.c, whose bits they
 * give. Lanes that a row leaves out hold `start`, which changes nothing.
 *
 * STEP(a, LOAD, p): a with the vector at p, which LOAD reads. OP joins two vectors of a fold, LAST
 * makes the result of what is left. */
#if TNI_ISA == 2 /* a row is a line or two of the cache */
#define fold_sum_f32_avx512 fold_sum_f32_avx2
#define fold_sum_f64_avx512 fold_sum_f64_avx2
#define fold_extreme_f32_avx512 fold_extreme_f32_avx2
#define fold_extreme_f64_avx512 fold_extreme_f64_avx2
#define fold_dot_f32_avx512 fold_dot_f32_avx2
#else
/* The vectors of whole lanes that begin a row, to `lane`: all of them if more of the row follows
 * (END), else folded to the first. */
#define RED_ALL (TNI_LANE_BYTES / (int)sizeof(T)) /* lanes */
#if TNI_ISA == 1
#define RED_WHOLE(STEP, OP, END)                                                                \
    {                                                                                           \
        V a0 = start, a1 = start, a2 = start, a3 = start, a4 = start, a5 = start, a6 = start,   \
          a7 = start;                                                                           \
        for (int64_t k = n / RED_ALL; k > 0; k--, p += TNI_LANE_BYTES) {                        \
            a0 = STEP(a0, V_LD, p), a1 = STEP(a1, V_LD, p + 32);                                \
            a2 = STEP(a2, V_LD, p + 64), a3 = STEP(a3, V_LD, p + 96);                           \
            a4 = STEP(a4, V_LD, p + 128), a5 = STEP(a5, V_LD, p + 160);                         \
            a6 = STEP(a6, V_LD, p + 192), a7 = STEP(a7, V_LD, p + 224);                         \
        }                                                                                       \
        if (END) {                                                                              \
            V_ST(lane, a0), V_ST(lane + W, a1), V_ST(lane + 2 * W, a2), V_ST(lane + 3 * W, a3); \
            V_ST(lane + 4 * W, a4), V_ST(lane + 5 * W, a5), V_ST(lane + 6 * W, a6);             \
            V_ST(lane + 7 * W, a7);                                                             \
        } else { /* folded, too */                                                              \
            a0 = OP(a0, a4), a1 = OP(a1, a5), a2 = OP(a2, a6), a3 = OP(a3, a7);                 \
            a0 = OP(a0, a2), a1 = OP(a1, a3);                                                   \
            V_ST(lane, OP(a0, a1));                                                             \
        }                                                                                       \
    }
#else
#define RED_WHOLE(STEP, OP, END)                                           \
    for (int i = 0; i < RED_ALL / W; i++) V_ST(lane + i * W, start);       \
    for (int64_t k = n / RED_ALL; k > 0; k--)                              \
        for (int i = 0; i < RED_ALL / W; i++, p += W * (int64_t)sizeof(T)) \
            V_ST(lane + i * W, STEP(V_LD(lane + i * W), V_LD, p));         \
    for (int h = END ? 0 : RED_ALL / W / 2; h; h /= 2)                     \
        for (int i = 0; i < h; i++)                                        \
            V_ST(lane + i * W, OP(V_LD(lane + i * W), V_LD(lane + (i + h) * W)));
#endif
/* What follows them, and the fold of as many vectors as the row fills, to the first. */
#define RED_END(STEP, OP)                                                                    \
    for (int64_t i = n % RED_ALL / W; i > 0; i--, p += W * (int64_t)sizeof(T), to_lane += W) \
        V_ST(to_lane, STEP(V_LD(to_lane), V_LD, p));                                         \
    if (n % W)                                                                               \
        V_ST(to_lane, V_SEL(inside, STEP(V_LD(to_lane), RED_PART, p), V_LD(to_lane)));       \
    for (int64_t h = top / 2; h; h /= 2)                                                     \
        for (int64_t i = 0; i < h; i++)                                                      \
            V_ST(lane + i * W, OP(V_LD(lane + i * W), V_LD(lane + (i + h) * W)));

/* W rows at a time: their lanes are turned, so that one fold is that of all. */
#define RED_FOLDS(STEP, OP, LAST)                                                           \
    T lane[RED_ALL], turned[W * W];                                                         \
    int64_t top = 1; /* vectors */                                                          \
    for (int i = 0; i < W; i++) lane[i] = (T)i;                                             \
    const M inside = V_LT(V_LD(lane), V_SET((T)(n % W)));                                   \
    while (top * W < n && top < RED_ALL / W) top *= 2;                                      \
    memset(turned, 0, sizeof turned);                                                       \
    for (int64_t r = 0; r < rows; r += W) {                                                 \
        const int64_t some = rows - r < W ? rows - r : W;                                   \
        for (int64_t q = 0; q < some; q++) {                                                \
            const char *p = (const char *)x + (r + q) * step;                               \
            T *to_lane = lane;                                                              \
            if (n % RED_ALL == 0) {                                                         \
                RED_WHOLE(STEP, OP, false)                                                  \
            } else {                                                                        \
                if (n > RED_ALL) {                                                          \
                    RED_WHOLE(STEP, OP, true)                                               \
                } else {                                                                    \
                    for (int64_t i = 0; i < top; i++) V_ST(lane + i * W, start);            \
                }                                                                           \
                RED_END(STEP, OP)                                                           \
            }                                                                               \
            for (int i = 0; i < W; i++) turned[i * W + q] = lane[i];                        \
        }                                                                                   \
        for (int h = W / 2; h; h /= 2)                                                      \
            for (int i = 0; i < h; i++)                                                     \
                V_ST(turned + i * W, OP(V_LD(turned + i * W), V_LD(turned + (i + h) * W))); \
        V_STN((T *)to + r, LAST(V_LD(turned)), some);                                       \
    }
#define RED_PART(p) V_LDN(p, n % W)
#define RED_AS_IT_IS(v) v
#define RED_ADD(a, LOAD, p) V_ADD(a, LOAD(p))
static void TNI_FNT(fold_sum)(const void *x, int64_t step, int64_t rows, int64_t n, void *to) {
    const V start = V_ZERO();
    TNI_KERNEL_PATH(fold_sum);
    RED_FOLDS(RED_ADD, V_ADD, RED_AS_IT_IS)
}
#undef RED_ADD
TNI_INLINE V TNI_FNT(fold_larger)(V a, V v) { return RED_MAX(a, v); }
#define RED_LARGER(a, LOAD, p) TNI_FNT(fold_larger)(a, RED_FLIP(LOAD(p)))
static void TNI_FNT(fold_extreme)(const void *x, int64_t step, int64_t rows, int64_t n, bool least,
                                  void *to) {
    const V flip = least ? V_SET(-0.0) : V_ZERO(), start = V_SET(-HUGE_VAL);
    TNI_KERNEL_PATH(fold_extreme);
    RED_FOLDS(RED_LARGER, TNI_FNT(fold_larger), RED_FLIP)
}
#undef RED_LARGER
#if defined(TNI_TYPE_F32)
#define RED_TIMES(a, LOAD, p) V_FMA(LOAD((const char *)((uintptr_t)(p) + apart)), LOAD(p), a)
static void TNI_FNT(fold_dot)(const void *x, const void *y, int64_t step, int64_t rows, int64_t n,
                              void *to) {
    const V start = V_ZERO();
    const uintptr_t apart = (uintptr_t)y - (uintptr_t)x;
    TNI_KERNEL_PATH(fold_dot);
    RED_FOLDS(RED_TIMES, V_ADD, RED_AS_IT_IS)
}
#undef RED_TIMES
#endif
#undef RED_WHOLE
#undef RED_END
#undef RED_FOLDS
#undef RED_ALL
#undef RED_AS_IT_IS
#undef RED_PART
#endif
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
