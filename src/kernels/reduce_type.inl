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
        V_PUT(acc + c, a, m);
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
        V_PUT(acc + c, RED_FLIP(a), m);
    }
#undef RED_LOAD_FLIP
#undef RED_STORE_FLIP
#undef RED_STEP
}

/* --- rows of a block each, `step` bytes apart ---
 *
 * Lane i of a row joins elements i, i + RED_ALL ..., then the lanes are folded by halves. W rows
 * are taken at a time: a vector is left of each, then two of them, one element of each in turn, are
 * folded as one. */
#if TNI_ISA == 2 /* a row is a line or two of the cache */
#define fold_sum_f32_avx512 fold_sum_f32_avx2
#define fold_sum_f64_avx512 fold_sum_f64_avx2
#define fold_prod_f32_avx512 fold_prod_f32_avx2
#define fold_prod_f64_avx512 fold_prod_f64_avx2
#define fold_extreme_f32_avx512 fold_extreme_f32_avx2
#define fold_extreme_f64_avx512 fold_extreme_f64_avx2
#define fold_dot_f32_avx512 fold_dot_f32_avx2
#else
#define RED_ALL (TNI_LANE_BYTES / (int)sizeof(T)) /* lanes */
typedef struct TNI_FNT(fold) {
    V blank; /* changes no lane; a row's last elements, fewer than lanes, are followed by it */
    V flip;  /* of the result, and of elements where the row's loop says so */
    M inside;
    uintptr_t apart, beyond; /* of two rows that are multiplied, and of their tails */
    int64_t whole, top; /* rows of lanes in a row, vectors of lanes that a row fills */
    int64_t pieces;     /* whole, and the tail if there is one */
    T tail[2 * RED_ALL], room[W * W];
} TNI_FNT(fold);
/* The last n < RED_ALL elements of a row, and blanks up to a vector's end. */
TNI_HELPER void TNI_FNT(fold_tail)(const TNI_FNT(fold) * f, const char *p, int64_t n, V blank,
                                   T *tail) {
    for (; n > 0; n -= W, p += W * (int64_t)sizeof(T), tail += W)
        V_ST(tail, n < W ? V_SEL(f->inside, V_LDN(p, n), blank) : V_LD(p));
}
/* to[r] = row r, which `row` makes a vector and `op` joins; f has blank, flip and apart. */
TNI_HELPER void TNI_FNT(fold_rows)(const char *x, int64_t step, int64_t rows, int64_t n, T *to,
                                   TNI_FNT(fold) * f,
                                   V (*row)(const char *p, const TNI_FNT(fold) * f),
                                   V (*op)(V a, V v)) {
    const int64_t rest = n % RED_ALL;
    for (int i = 0; i < W; i++) f->tail[i] = (T)i;
    f->inside = V_LT(V_LD(f->tail), V_SET((T)(n % W)));
    for (int i = 0; rest && i < RED_ALL; i += W) {
        V_ST(f->tail + i, f->blank);
        V_ST(f->tail + RED_ALL + i, V_ZERO());
    }
    for (int i = 0; i < W * W; i += W) V_ST(f->room + i, f->flip);
    f->whole = n / RED_ALL;
    f->pieces = f->whole + (rest > 0);
    f->beyond = f->apart ? TNI_LANE_BYTES : 0;
    f->top = 1;
    while (f->top * W < n && f->top < RED_ALL / W) f->top *= 2;
    for (int64_t some; rows > 0; rows -= some, to += some) {
        some = rows < W ? rows : W;
        for (int64_t q = 0; q < some; q++, x += step) {
            const char *last = x + f->whole * TNI_LANE_BYTES;
            if (rest) TNI_FNT(fold_tail)(f, last, rest, f->blank, f->tail);
            if (rest && f->apart)
                TNI_FNT(fold_tail)(f, (const char *)((uintptr_t)last + f->apart), rest,
                                   V_ZERO(), f->tail + RED_ALL);
            V_ST(f->room + q * W, row(x, f));
        }
        for (int h = W / 2; h; h /= 2)
            for (T *at = f->room, *end = at + h * W; at < end; at += W) {
                T two[2 * W];
                V_ST2(two, V_LD(at), V_LD(at + h * W));
                V_ST(at, op(V_LD(two), V_LD(two + W)));
            }
        V_PUT(to, V_XOR(V_LD(f->room), f->flip), some);
    }
}

/* The function of a row: its lanes begin with `start`; STEP(a, p): a with the vector at p. */
#if TNI_ISA == 1
#define RED_ROW(name, op, start, STEP)                                                    \
    static V TNI_FNT(row_##name)(const char *p, const TNI_FNT(fold) * f) {                \
        uintptr_t apart = f->apart;                                                       \
        const bool few = f->top <= 2;                                                     \
        V a0 = start, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;      \
        for (int64_t k = 0; k < f->pieces; k++, p += TNI_LANE_BYTES) {                    \
            if (k == f->whole) p = (const char *)f->tail, apart = f->beyond;               \
            a0 = STEP(a0, p), a1 = STEP(a1, p + 32);                                      \
            if (few) continue;                                                            \
            a2 = STEP(a2, p + 64), a3 = STEP(a3, p + 96);                                 \
            a4 = STEP(a4, p + 128), a5 = STEP(a5, p + 160);                               \
            a6 = STEP(a6, p + 192), a7 = STEP(a7, p + 224);                               \
        }                                                                                 \
        (void)apart;                                                                      \
        if (f->top > 4) a0 = op(a0, a4), a1 = op(a1, a5), a2 = op(a2, a6), a3 = op(a3, a7); \
        if (f->top > 2) a0 = op(a0, a2), a1 = op(a1, a3);                                 \
        return f->top > 1 ? op(a0, a1) : a0;                                              \
    }
#else
#define RED_ROW(name, op, start, STEP)                                                    \
    static V TNI_FNT(row_##name)(const char *p, const TNI_FNT(fold) * f) {                \
        uintptr_t apart = f->apart;                                                       \
        T lane[RED_ALL];                                                                  \
        for (int64_t i = 0; i < f->top; i++) V_ST(lane + i * W, start);                   \
        for (int64_t k = 0; k < f->pieces; k++, p += TNI_LANE_BYTES) {                    \
            const char *at = p;                                                           \
            if (k == f->whole) at = (const char *)f->tail, apart = f->beyond;              \
            for (int64_t i = 0; i < f->top; i++, at += W * (int64_t)sizeof(T))            \
                V_ST(lane + i * W, STEP(V_LD(lane + i * W), at));                         \
        }                                                                                 \
        (void)apart;                                                                      \
        for (int64_t h = f->top / 2; h; h /= 2)                                           \
            for (int64_t i = 0; i < h; i++)                                               \
                V_ST(lane + i * W, op(V_LD(lane + i * W), V_LD(lane + (i + h) * W)));     \
        return V_LD(lane);                                                                \
    }
#endif

static V TNI_FNT(fold_add)(V a, V v) { return V_ADD(a, v); }
#define RED_ADD(a, p) V_ADD(a, V_LD(p))
RED_ROW(sum, V_ADD, V_ZERO(), RED_ADD)
static void TNI_FNT(fold_sum)(const void *x, int64_t step, int64_t rows, int64_t n, void *to) {
    TNI_FNT(fold) f;
    TNI_KERNEL_PATH(fold_sum);
    f.blank = V_SET(-0.0);
    f.flip = V_ZERO();
    f.apart = 0;
    TNI_FNT(fold_rows)((const char *)x, step, rows, n, (T *)to, &f, TNI_FNT(row_sum),
                       TNI_FNT(fold_add));
}
#undef RED_ADD

static V TNI_FNT(fold_times)(V a, V v) { return V_MUL(a, v); }
#define RED_TIMES(a, p) V_MUL(a, V_LD(p))
RED_ROW(prod, V_MUL, V_ONE, RED_TIMES)
static void TNI_FNT(fold_prod)(const void *x, int64_t step, int64_t rows, int64_t n, void *to) {
    TNI_FNT(fold) f;
    TNI_KERNEL_PATH(fold_prod);
    f.blank = V_ONE;
    f.flip = V_ZERO();
    f.apart = 0;
    TNI_FNT(fold_rows)((const char *)x, step, rows, n, (T *)to, &f, TNI_FNT(row_prod),
                       TNI_FNT(fold_times));
}
#undef RED_TIMES

static V TNI_FNT(fold_larger)(V a, V v) { return RED_MAX(a, v); }
#define RED_LARGER(a, p) TNI_FNT(fold_larger)(a, V_XOR(V_LD(p), f->flip))
RED_ROW(extreme, TNI_FNT(fold_larger), V_SET(-HUGE_VAL), RED_LARGER)
static void TNI_FNT(fold_extreme)(const void *x, int64_t step, int64_t rows, int64_t n, bool least,
                                  void *to) {
    TNI_FNT(fold) f;
    TNI_KERNEL_PATH(fold_extreme);
    f.blank = least ? V_SET(HUGE_VAL) : V_SET(-HUGE_VAL);
    f.flip = least ? V_SET(-0.0) : V_ZERO();
    f.apart = 0;
    TNI_FNT(fold_rows)((const char *)x, step, rows, n, (T *)to, &f, TNI_FNT(row_extreme),
                       TNI_FNT(fold_larger));
}
#undef RED_LARGER

#if defined(TNI_TYPE_F32)
/* y may be x. Behind two tails are products of -0 and 0. */
#define RED_FUSED(a, p) V_FMA(V_LD((const char *)((uintptr_t)(p) + apart)), V_LD(p), a)
RED_ROW(dot, V_ADD, V_ZERO(), RED_FUSED)
static void TNI_FNT(fold_dot)(const void *x, const void *y, int64_t step, int64_t rows, int64_t n,
                              void *to) {
    TNI_FNT(fold) f;
    TNI_KERNEL_PATH(fold_dot);
    f.blank = V_SET(-0.0);
    f.flip = V_ZERO();
    f.apart = (uintptr_t)y - (uintptr_t)x;
    TNI_FNT(fold_rows)((const char *)x, step, rows, n, (T *)to, &f, TNI_FNT(row_dot),
                       TNI_FNT(fold_add));
}
#undef RED_FUSED
#endif
#undef RED_ROW
#undef RED_ALL
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
        V_PUT((T *)value + c, RED_FLIP(a), m);
        V_PUT((T *)index + c, k, m);
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
        V_PUT((T *)one + c, a0, m);
        V_PUT((T *)two + c, b0, m);
        V_PUT((T *)one + c + W, a1, w);
        V_PUT((T *)two + c + W, b1, w);
    }
}

static void TNI_FNT(norm_map)(const void *x, int64_t n, int kind, void *to) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V v = V_LDN((const T *)x + i, m);
        if (kind == TNI_NORM_SQUARE)
            v = V_MUL(v, v);
        else if (kind == TNI_NORM_ABS)
            v = V_ABS(v);
        else
            v = V_SEL(V_NE(v, V_ZERO()), V_ONE, V_ZERO());
        V_PUT((T *)to + i, v, m);
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
