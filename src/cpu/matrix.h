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
    int64_t ld; /* from one column to the next, in elements */
    int bytes;  /* of an element of a plane: 4 or 8 */
    const tni_kernels *k;
    tn_context *context; /* whose threads share large products */
} tni_planes;

typedef struct tni_pair { /* a number; im is 0 where the matrix is real */
    double re, im;
} tni_pair;

enum { TNI_AS_IS, TNI_TRANSPOSED = 1, TNI_ADJOINT = 3 }; /* how a matrix is copied */

/* For check: t must be a batch of matrices with real parts of 32 or 64 bits, and square ones if
 * `square`. name is the parameter's. */
TN_PRIV bool tni_matrix_fits(tn_frame *f, const tn_tensor *t, const char *name, bool square);
/* "Double" of TN_F64: the dtype as torch's texts call it. */
TN_PRIV const char *tni_scalar_type(int dtype);
/* For check: the out= of result k, if it is given, takes the dtype. name is what torch's text calls
 * the result, NULL where it says "out tensor". */
TN_PRIV bool tni_out_takes(tn_frame *f, int k, const char *name, int dtype);
/* For check: scratch a worker for an m x n matrix, a p x q one and `more` elements. */
TN_PRIV bool tni_planes_ask(tn_frame *f, int dtype, int64_t m, int64_t n, int64_t p, int64_t q,
                            int64_t more);
/* The m x n matrix within p whose upper left element is (i, j). */
TNI_INLINE tni_planes tni_planes_part(const tni_planes *p, int64_t i, int64_t j, int64_t m,
                                      int64_t n) {
    tni_planes part = *p;
    for (int k = 0; k < 2; k++)
        if (p->at[k]) part.at[k] = p->at[k] + (i + j * p->ld) * p->bytes;
    part.m = m;
    part.n = n;
    return part;
}
/* The next matrix in *scratch, which moves behind it; not initialised. */
TN_PRIV tni_planes tni_planes_in(tn_frame *f, void **scratch, int dtype, int64_t m, int64_t n);
/* Copies the upper left p->m x p->n corner of matrix i of t, whose elements may be half as wide,
 * from and to it. The batches of t are broadcast to those of `like`. */
TN_PRIV void tni_planes_load(const tni_planes *p, const tn_tensor *t, const tn_tensor *like,
                             int64_t i, int how);
TN_PRIV void tni_planes_store(const tni_planes *p, tn_tensor *t, int64_t i, int how);

/* Where item i of t begins: of its matrices (inner 2), vectors (1) or numbers (0), as the batches
 * of matrices `like` count. */
TN_PRIV char *tni_batch_at(const tn_tensor *t, int inner, const tn_tensor *like, int64_t i);
/* Of the matrices of x that matrix i of t is broadcast to, the q-th. */
TN_PRIV int64_t tni_batch_of(const tn_tensor *t, const tn_tensor *x, int64_t i, int64_t q);

/* For check: *s is the batches of both, to which they are broadcast. */
TN_PRIV bool tni_batches_fit(tn_frame *f, tni_shape *s, const tn_tensor *a, const char *name_a,
                             const tn_tensor *b, const char *name_b);
/* The sizes of t with these two at the end; returns their number. */
TNI_INLINE int tni_matrix_shape(int64_t *size, const tn_tensor *t, int64_t m, int64_t n) {
    memcpy(size, t->size, (size_t)t->ndim * sizeof *size);
    size[t->ndim - 2] = m;
    size[t->ndim - 1] = n;
    return t->ndim;
}

/* The number of matrices in t; so many operations, for tn_each. */
TN_PRIV int64_t tni_batches(const tn_tensor *t);
TNI_INLINE int64_t tni_effort(double operations) {
    return operations < 1e15 ? (int64_t)operations : (int64_t)1 << 50;
}

TNI_INLINE tni_pair tni_planes_get(const tni_planes *p, int64_t i, int64_t j) {
    const int64_t at = i + j * p->ld;
    tni_pair v = {0, 0};
    v.re =
        p->bytes == 4 ? (double)((float *)(void *)p->at[0])[at] : ((double *)(void *)p->at[0])[at];
    if (p->at[1])
        v.im = p->bytes == 4 ? (double)((float *)(void *)p->at[1])[at]
                             : ((double *)(void *)p->at[1])[at];
    return v;
}
TNI_INLINE void tni_planes_set(const tni_planes *p, int64_t i, int64_t j, tni_pair v) {
    const int64_t at = i + j * p->ld;
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
TNI_INLINE tni_pair tni_re_im(double re, double im) {
    tni_pair p = {0, 0};
    p.re = re;
    p.im = im;
    return p;
}

/* For verdict: false with the error `why`, which names the matrix, if one of its values, in the
 * last dimension of t, is NaN: what an iteration leaves that does not end. */
TN_PRIV bool tni_converged(tn_frame *f, const tn_tensor *t, const char *why);

/* --- blocks (matrix_blocks.c) ----------------------------------------------------------------- */

/* Systems and factorizations of at most so many columns go column by column, others by blocks. */
enum { TNI_COLUMNS_ALONE = 48 };

/* c = [c +] alpha op(a) op(b), where op is a way to copy. alpha is 1 where c is not read. */
TN_PRIV void tni_planes_product(const tni_planes *c, const tni_planes *a, int how_a,
                                const tni_planes *b, int how_b, double alpha, bool add);
/* t x = b in place of b, of the triangle t; `unit`: its diagonal counts as ones. */
TN_PRIV void tni_planes_solve(const tni_planes *t, const tni_planes *x, bool upper, bool unit);
/* x op(t) = b in place of b, where op(t) is upper triangular. */
TN_PRIV void tni_planes_solve_right(const tni_planes *x, const tni_planes *t, int how, bool unit);
/* Columns [0, p->n) of from, in both planes. */
TN_PRIV void tni_planes_copy(const tni_planes *to, const tni_planes *from);
TN_PRIV void tni_columns_exchange(const tni_planes *p, int64_t i, int64_t j);
TN_PRIV void tni_rows_exchange(const tni_planes *p, int64_t i, int64_t j);
TN_PRIV void tni_planes_unit(const tni_planes *p); /* ones on the diagonal, zeros elsewhere */

#endif
