/* matmul.h - products of matrices of any dtype and any strides, batch by batch. Checks no dtype. */
#ifndef TNI_CPU_MATMUL_H
#define TNI_CPU_MATMUL_H

#include "../call/call.h"
#include "../kernels/kernels.h"

/* c is row-major: batch after batch of m x n. Strides in elements; a batch stride of 0 repeats. */
typedef struct tni_matmul_plan {
    int64_t m, n, k, batches;
    int64_t a_row, a_col, b_row, b_col;
    int nbatch;
    int64_t size[TN_MAX_DIMS], a_batch[TN_MAX_DIMS], b_batch[TN_MAX_DIMS];
    int ndim; /* of the result */
    int64_t result[TN_MAX_DIMS + 2];
} tni_matmul_plan;
/* Fills p for a * b; false when shapes do not fit. Vectors lose their dimension in the result. */
TN_PRIV bool tni_matmul_plan_of(tni_matmul_plan *p, const tn_tensor *a, const tn_tensor *b);
/* Bytes of scratch for a of elements of so many bytes where it is packed; 0: it is not. */
TN_PRIV int64_t tni_matmul_packed_bytes(tn_context *c, const tni_matmul_plan *p, int64_t bytes);
/* c = [c +] alpha * a * b */
TN_PRIV void tni_matmul_run(tn_context *context, const tni_matmul_plan *p, int dtype, const void *a,
                            const void *b, void *c, double alpha, bool add, void *scratch);

#endif
