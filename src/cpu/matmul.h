/* matmul.h - products of matrices of any dtype and any strides, batch by batch. Checks no dtype. */
#ifndef TNI_CPU_MATMUL_H
#define TNI_CPU_MATMUL_H

#include "../device/device.h"
#include "../call/call.h"
#include "../kernels/kernels.h"

typedef tn_product_plan tni_matmul_plan;
/* Fills p for a * b; false when shapes do not fit. Vectors lose their dimension in the result. */
TN_PRIV bool tni_matmul_plan_of(tni_matmul_plan *p, const tn_tensor *a, const tn_tensor *b);
/* The transpose of a matrix as a header whose sizes and strides are in `dims`; it has no data. */
TN_PRIV void tni_matmul_turned(tn_tensor *t, const tn_tensor *matrix, int64_t dims[4]);
/* Bytes of scratch for a of elements of so many bytes where it is packed; 0: it is not. */
TN_PRIV int64_t tni_matmul_packed_bytes(tn_context *c, const tni_matmul_plan *p, int64_t bytes);
/* Where matrix number `batch` begins in an operand with these batch strides, in elements. */
TN_PRIV int64_t tni_matmul_offset(const tni_matmul_plan *p, const int64_t *stride, int64_t batch);
/* Floats of scratch for a product of matrices of 16 bits, which computes in float: both operands
 * and the result, each on a cache line. False: too many. */
TN_PRIV bool tni_matmul_half_floats(int64_t m, int64_t k, int64_t n, int64_t *floats);
/* A task has so many multiply-adds at least, unless there are too few tasks for the threads. */
enum { TNI_MATMUL_WORK = 1 << 18 };
/* c = [c +] alpha * a * b of integers, which wrap */
TN_PRIV void tni_matmul_integers(tn_context *context, const tni_matmul_plan *p, const tni_gemm *g,
                                 int dtype);
/* c = a * b of f32 or f64. start: n numbers where the chains of columns begin, NULL: zeros. */
TN_PRIV void tni_matmul_from(tn_context *context, const tni_matmul_plan *p, int dtype,
                             const void *a, const void *b, void *c, const void *start);
/* c = [c +] alpha * a * b */
TN_PRIV void tni_matmul_run(tn_context *context, const tni_matmul_plan *p, int dtype, const void *a,
                            const void *b, void *c, double alpha, bool add, void *scratch);

#endif
