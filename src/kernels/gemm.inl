/* gemm.inl - matrix products in float and double; other floating types convert to float before
 * and after.
 *
 * The order of additions of every element is fixed by gemm.h; nothing here depends on threads. A
 * tile is GEMM_ROWS x GEMM_COLS elements of c in registers: two vectors of b and one broadcast of
 * a for each k. Rows of a are addressed as base + {0, 1, 2} * stride, which x86 does without more
 * registers. */
#define GEMM_COLS (2 * W)
#if TNI_ISA == 0 || TNI_ISA == 4 /* in wasm128 an fma takes registers, too */
#define GEMM_ROWS 4
#define GEMM_FULL TNI_FNT(gemm_tile4)
#elif TNI_ISA == 1
#define GEMM_ROWS 6
#define GEMM_FULL TNI_FNT(gemm_tile6)
#elif TNI_ISA == 2
#define GEMM_ROWS 14
#define GEMM_FULL TNI_FNT(gemm_tile14)
#else
#define GEMM_ROWS 8
#define GEMM_FULL TNI_FNT(gemm_tile8)
#endif

#define GEMM_START(r) V s##r = V_LD(start), t##r = V_LD(start + next); start += start_row;
#define GEMM_STEP(r)                                    \
    x = V_SET(*(const T *)(const void *)(GEMM_AT_##r)); \
    s##r = V_FMA(x, y, s##r), t##r = V_FMA(x, z, t##r);
#define GEMM_PUT(r) V_ST(c, s##r), V_ST(c + W, t##r), c += c_row;
#define GEMM_ADD(r) \
    V_ST(c, V_FMA(s##r, y, V_LD(c))), V_ST(c + W, V_FMA(t##r, y, V_LD(c + W))), c += c_row;
#define GEMM_AT_0 a0
#define GEMM_AT_1 a0 + row
#define GEMM_AT_2 a0 + 2 * row
#define GEMM_AT_3 a3
#define GEMM_AT_4 a3 + row
#define GEMM_AT_5 a3 + 2 * row
#define GEMM_AT_6 a6
#define GEMM_AT_7 a6 + row
#define GEMM_AT_8 a6 + 2 * row
#define GEMM_AT_9 a9
#define GEMM_AT_10 a9 + row
#define GEMM_AT_11 a9 + 2 * row
#define GEMM_AT_12 a12
#define GEMM_AT_13 a12 + row

#define GEMM_HERE (void)soon, (void)left;
/* Low tiles wait for their sums, so there is time to ask for the memory that comes next. */
#if TNI_ISA == 0
#define GEMM_AHEAD GEMM_HERE
#else
#define GEMM_AHEAD                       \
    TNI_PREFETCH((const void *)soon, 0); \
    soon += q->line;                     \
    if (--left == 0) left = q->lines, soon += q->jump;
#endif
#define GEMM_TILE(h, ROWS, AHEAD)                                                                 \
    static void TNI_FNT(gemm_tile##h)(const TNI_FNT(gemm_tiles) *q, const T *a, const T *b, T *c, \
                                      int64_t c_row, bool add) {                                  \
        const ptrdiff_t row = q->a_row, col = q->a_col;                                           \
        const char *a0 = (const char *)a, *a3 = a0 + 3 * row, *a6 = a0 + 6 * row,                 \
                   *a9 = a0 + 9 * row, *a12 = a0 + 12 * row;                                      \
        const int64_t b_row = q->b_row, start_row = q->start_row, next = q->start_next;           \
        const T *start = q->start;                                                                \
        uintptr_t soon = q->soon;                                                                 \
        int64_t left = q->lines;                                                                  \
        V x, y, z;                                                                                \
        TNI_KERNEL_PATH(gemm_tile##h);                                                            \
        ROWS(GEMM_START)                                                                          \
        for (int64_t k = q->k; k > 0; k--) {                                                      \
            y = V_LD(b), z = V_LD(b + W);                                                         \
            ROWS(GEMM_STEP)                                                                       \
            b += b_row, a0 += col, a3 += col, a6 += col, a9 += col, a12 += col;                   \
            AHEAD                                                                                 \
        }                                                                                         \
        y = V_SET(q->alpha);                                                                      \
        if (add) {                                                                                \
            ROWS(GEMM_ADD)                                                                        \
        } else {                                                                                  \
            ROWS(GEMM_PUT)                                                                        \
        }                                                                                         \
    }

#define GEMM_R1(X) X(0)
#define GEMM_R2(X) GEMM_R1(X) X(1)
#define GEMM_R3(X) GEMM_R2(X) X(2)
#define GEMM_R4(X) GEMM_R3(X) X(3)
#define GEMM_R5(X) GEMM_R4(X) X(4)
#define GEMM_R6(X) GEMM_R5(X) X(5)
#define GEMM_R8(X) GEMM_R6(X) X(6) X(7)
#define GEMM_R14(X) GEMM_R8(X) X(8) X(9) X(10) X(11) X(12) X(13)
