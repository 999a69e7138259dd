/* matrix.h - one matrix after another out of batches, for rows of linear algebra (matrix.c). */
#ifndef TNI_CPU_MATRIX_H
#define TNI_CPU_MATRIX_H

#include "../call/call.h"
#include "../kernels/kernels.h"

/* An m x n matrix in a worker's scratch, column-major. A complex one has a second plane, of the
 * imaginary parts, so all loops are over real columns. */
typedef struct tni_planes {
    char *at[2]; /* at[1]: NULL where the matrix is real */
    int64_t m, n;
    int bytes; /* of an element of a plane: 4 or 8 */
    const tni_kernels *k;
} tni_planes;

typedef struct tni_pair { /* a number; im is 0 where the matrix is real */
    double re, im;
} tni_pair;

enum { TNI_AS_IS, TNI_TRANSPOSED = 1, TNI_ADJOINT = 3 }; /* how a matrix is copied */

/* For check: t must be a batch of matrices with real parts of 32 or 64 bits, and square ones if
 * `square`. name is the parameter's. */
TN_PRIV bool tni_matrix_fits(tn_frame *f, const tn_tensor *t, const char *name, bool square);
/* For check: scratch a worker for an m x n matrix, a p x q one and `more` elements. */
TN_PRIV bool tni_planes_ask(tn_frame *f, int dtype, int64_t m, int64_t n, int64_t p, int64_t q,
                            int64_t more);
/* The next matrix in *scratch, which moves behind it; not initialised. */
TN_PRIV tni_planes tni_planes_in(tn_frame *f, void **scratch, int dtype, int64_t m, int64_t n);
/* Copies the upper left p->m x p->n corner of matrix i of t from and to it. The batches of t are
 * broadcast to those of `like`. */
TN_PRIV void tni_planes_load(const tni_planes *p, const tn_tensor *t, const tn_tensor *like,
                             int64_t i, int how);
TN_PRIV void tni_planes_store(const tni_planes *p, tn_tensor *t, int64_t i, int how);

/* The number of matrices in t; so many operations, for tn_each. */
TN_PRIV int64_t tni_batches(const tn_tensor *t);
TNI_INLINE int64_t tni_effort(double operations) {
    return operations < 1e15 ? (int64_t)operations : (int64_t)1 << 50;
}

TNI_INLINE tni_pair tni_planes_get(const tni_planes *p, int64_t i, int64_t j) {
    const int64_t at = i + j * p->m;
    tni_pair v = {0, 0};
    v.re =
        p->bytes == 4 ? (double)((float *)(void *)p->at[0])[at] : ((double *)(void *)p->at[0])[at];
    if (p->at[1])
        v.im = p->bytes == 4 ? (double)((float *)(void *)p->at[1])[at]
                             : ((double *)(void *)p->at[1])[at];
    return v;
}
TNI_INLINE void tni_planes_set(const tni_planes *p, int64_t i, int64_t j, tni_pair v) {
    const int64_t at = i + j * p->m;
    if (p->bytes == 4)
        ((float *)(void *)p->at[0])[at] = (float)v.re;
    else
        ((double *)(void *)p->at[0])[at] = v.re;
    if (p->at[1] && p->bytes == 4) ((float *)(void *)p->at[1])[at] = (float)v.im;
    if (p->at[1] && p->bytes == 8) ((double *)(void *)p->at[1])[at] = v.im;
}
/* Zeros below the diagonal, or above it. */
TN_PRIV void tni_planes_clear(const tni_planes *p, bool below);

/* y[i..end, jy] += a x[i..end, jx], one fma a real product. */
TN_PRIV void tni_column_add(const tni_planes *y, int64_t jy, const tni_planes *x, int64_t jx,
                            int64_t i, int64_t end, tni_pair a);
/* The sum of conj(x[i..m, jx]) y[i..m, jy]. */
TN_PRIV tni_pair tni_column_dot(const tni_planes *x, int64_t jx, const tni_planes *y, int64_t jy,
                                int64_t i);

/* a b; a / b without overflow on the way (R. Smith, 1962). */
TNI_INLINE tni_pair tni_pair_mul(tni_pair a, tni_pair b) {
    tni_pair c;
    c.re = fma(a.re, b.re, -(a.im * b.im));
    c.im = fma(a.re, b.im, a.im * b.re);
    return c;
}
TN_PRIV tni_pair tni_pair_div(tni_pair a, tni_pair b);

#endif
