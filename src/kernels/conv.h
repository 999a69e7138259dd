/* conv.h - kernel entries of convolution: K(ret, name, params).
 *
 * Convolution is a matrix product whose second matrix is never made: its row k is the source
 * shifted by offset[k], and pixel (image, y, x) lies at image * image_step + y * pitch + x of it.
 * The operator lays out the source so that this holds: padded, and split by phase where the
 * stride is not 1 (conv.c). Elements are sums in the order of gemm.h, where chains of the
 * first block begin at bias. */
#ifndef TNI_KERNELS_CONV_H
#define TNI_KERNELS_CONV_H

#include "../base/base.h"

/* c (image, m, y, x) = bias (m) + sum over k of a (m, k) source (image, y, x; offset[k]), for
 * `count` pixels from pixel `first` on, numbered row-major over (image, height, width). All steps
 * count elements. */
typedef struct tni_conv {
    int64_t m, k, height, width, first, count;
    const void *a;                   /* row-major */
    const void *source, *source_end; /* nothing is read from source_end on */
    const int64_t *offset;
    int64_t reach; /* the largest offset */
    int64_t image_step, pitch;
    const void *bias; /* NULL: zeros */
    void *c;
    int64_t c_image, c_row, c_line, c_col;
    int64_t pixel; /* conv_depth: step of the source from pixel to pixel */
} tni_conv;

/* w (k, n) += sum over pixels of source (pixel; offset[k]) grad (pixel, n), the gradient of
 * weights transposed. One block of pixels, `lines` pieces of rows of `width` pixels from line
 * `first` (over image, height) and column `left` on; pixels are the k of gemm.h. grad is packed
 * by gemm_pack_b; w has GEMM_COLS columns. */
typedef struct tni_conv_weight {
    int64_t rows, height, first, lines, left, width;
    const void *source;
    const int64_t *offset;
    int64_t image_step, pitch;
    const void *grad;
    int64_t grad_image,
        grad_lines; /* conv_weight_one: steps of grad, which is of the whole round and not packed */
    void *w;
    bool add;
} tni_conv_weight;

#define TNI_KERNELS_CONV_TYPE(K, S)                                                              \
    K(void, conv_##S, (const tni_conv *v))                                                       \
    /* For small m and k <= TNI_K_BLOCK; reads up to 4 vectors beyond a row of the source. */    \
    K(void, conv_direct_##S, (const tni_conv *v))                                                \
    /* m channels side by side, each by weights of its own: a is (k, m), k <= TNI_K_BLOCK, m a   \
     * vector or more. */                                                                        \
    K(void, conv_depth_##S, (const tni_conv *v))                                                 \
    /* Rows of n elements from one place to another, steps in elements. */                       \
    K(void, conv_rows_##S,                                                                       \
      (void *to, int64_t to_step, const void *from, int64_t from_step, int64_t rows, int64_t n)) \
    K(void, conv_weight_##S, (const tni_conv_weight *v))                                         \
    K(void, conv_weight_one_##S, (const tni_conv_weight *v))                                     \
    /* to[depth][gemm_columns]: n columns `lane` apart in from, rows `row` apart; others 0 */    \
    K(void, gemm_pack_b_##S,                                                                     \
      (void *to, const void *from, int64_t lane, int64_t row, int64_t n, int64_t depth))         \
    K(int64_t, gemm_columns_##S, (void))

#define TNI_KERNELS_CONV(K)       \
    TNI_KERNELS_CONV_TYPE(K, f32) \
    TNI_KERNELS_CONV_TYPE(K, f64)

#endif
