/* products.cuh - a product of matrices as kernels take it, for products.cu and blas.cu. */
#ifndef TNC_CUDA_PRODUCTS_CUH
#define TNC_CUDA_PRODUCTS_CUH

#include "elements.cuh"

/* Sizes and steps of real numbers: a complex matrix is two real ones that lie in each other, so its
 * steps are doubled. c = beta * start + alpha * a * b; start is broadcast. */
struct tnc_product {
    int64_t m, n, k, batches;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col, c_batch, start_row, start_col;
    int64_t size[TN_MAX_DIMS], a_batch[TN_MAX_DIMS], b_batch[TN_MAX_DIMS]; /* outermost first */
    const char *a, *b, *start;                                             /* NULL: start is 0 */
    char *c, *sums; /* sums of blocks of k, where they are added by another kernel */
    double alpha, beta;
    int64_t blocks;              /* of k */
    int32_t nbatch;              /* dimensions */
    int32_t dtype;               /* of the real numbers */
    int32_t parts;               /* 2: complex */
    bool add;                    /* beta * start stands first; else there is no start */
    bool a_deep, b_deep;         /* elements that follow each other along k are the nearer ones */
    bool a_wide, b_wide, c_wide; /* they are neighbours, 16 bytes at a time */
    bool turned;                 /* a and b have changed places */
    bool split;                  /* a job is one block of k of its elements, and writes sums */
};

/* Makes p's floats in tiles, each job with all of k, so without room for sums. */
TNC_PRIV void tnc_product_alone(tnc_product *p, cudaStream_t s);

/* --- the vendor's library (blas.cu) ----------------------------------------------------------- */

/* Whether the library is there and multiplies such matrices; then *bytes is the workspace that
 * tnc_blas_run needs. Enqueues nothing. */
TNC_PRIV bool tnc_blas_takes(const tn_frame *f, const tnc_product *p, int64_t *bytes);
/* What tnc_blas_takes agreed to. False: the library did not take it after all. */
TNC_PRIV bool tnc_blas_run(const tn_frame *f, const tnc_product *p);

#endif
