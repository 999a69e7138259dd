/* gemm.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_GEMM_H
#define TNI_KERNELS_GEMM_H

#include "../base/base.h"

/* The length of a k-block. Every product of the library gives each element of c the value
 *     c = (first ? 0 : c) + alpha * s,   s = fma(a[k-1], b[k-1], ... fma(a[0], b[0], 0)),
 * block after block of 384 in rising order, the outer step itself one fma. Tiles, packing,
 * threads and instruction sets only choose who computes it. */
enum { TNI_K_BLOCK = 384 };

/* c (m, n) = alpha * a (m, k) * b (k, n), or c += when `add`. Strides in elements; alpha is 1 where
 * c is not read. `panel`: a was packed by gemm_pack_a, and panels lie `panel` elements apart. */
typedef struct tni_gemm {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int64_t panel;
    double alpha;
    bool add;
    const void *start; /* n numbers where the chains of columns begin, NULL: zeros; not with add */
} tni_gemm;

#define TNI_KERNELS_GEMM(K)                                                                       \
    K(void, gemm_f32, (const tni_gemm *g))                                                        \
    K(void, gemm_f64, (const tni_gemm *g))                                                        \
    /* The same for m = 1, b_col = c_col = 1, n a multiple of 16: walks along the rows of b. */   \
    K(void, gemm_row_f32, (const tni_gemm *g))                                                    \
    K(void, gemm_row_f64, (const tni_gemm *g))                                                    \
    /* The same for m = 1, b_row = c_col = 1, n a multiple of 16: columns of b lie along k. */    \
    K(void, gemm_column_major_f32, (const tni_gemm *g))                                           \
    K(void, gemm_column_major_f64, (const tni_gemm *g))                                           \
    /* The same for m = n = 1. */                                                                 \
    K(void, gemm_dot_f32, (const tni_gemm *g))                                                    \
    K(void, gemm_dot_f64, (const tni_gemm *g))                                                    \
    /* Rows [i, i + gemm_panel) of a (m, k) as one panel: to[k][gemm_panel], zero-filled. */      \
    K(void, gemm_pack_a_f32, (const tni_gemm *g, int64_t i, void *to))                            \
    K(void, gemm_pack_a_f64, (const tni_gemm *g, int64_t i, void *to))                            \
    /* to[k][i] = from[i][k] for i < n and k < depth, rows so many elements apart. */             \
    K(void, turn_f32,                                                                             \
      (void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n, int64_t depth)) \
    K(void, turn_f64,                                                                             \
      (void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n, int64_t depth)) \
    K(int64_t, gemm_panel_f32, (void))                                                            \
    K(int64_t, gemm_panel_f64, (void))

#endif
