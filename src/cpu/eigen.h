/* eigen.h - eigenvalues of matrices that need not be symmetric (hessenberg.c, schur.c,
 * schur_complex.c, eigen.c). All planes are of doubles. */
#ifndef TNI_CPU_EIGEN_H
#define TNI_CPU_EIGEN_H

#include "householder.h"

/* Elements (numbers of a's dtype) of scratch that tni_eigen needs beside a and 2 n values. */
TN_PRIV bool tni_eigen_size(int64_t n, bool vectors, int64_t *elements);
/* Of the square a: values[0..n) the real parts of its eigenvalues, in the order of LAPACK's geev,
 * values[n..2n) the imaginary ones. v, if not NULL, becomes complex planes in scratch or in a,
 * whose columns are the eigenvectors, of norm 1 and with a real element of the largest modulus. a
 * is overwritten and must be finite. False, and NaN in values, where the iteration does not end. */
TN_PRIV bool tni_eigen(tn_frame *f, const tni_planes *a, double *values, tni_planes *v,
                       void *scratch);

/* --- steps of it ------------------------------------------------------------------------------ */

/* What balancing has done: rows and columns outside of [low, high] are already triangular. */
typedef struct tni_balance {
    int64_t low, high;
    double *by; /* n: a factor within [low, high], elsewhere the row that was exchanged */
} tni_balance;
TN_PRIV tni_balance tni_balance_of(const tni_planes *a, double *by);
/* Undoes it in eigenvectors. */
TN_PRIV void tni_balance_undo(const tni_balance *b, const tni_planes *v);
/* a becomes Q^H A Q, zero below its first subdiagonal; q, if not NULL, becomes Q. */
TN_PRIV void tni_hessenberg(tni_reflectors *r, const tni_planes *a, const tni_balance *b,
                            const tni_planes *q, const tni_planes *taus);

/* A Hessenberg matrix on its way to a Schur form. */
typedef struct tni_schur {
    const tni_planes *h, *z; /* z: multiplied by all rotations, or NULL: values alone are wanted */
    int64_t n, low, high;
    double *re, *im; /* n eigenvalues */
    /* in work: rows and columns [first, last] are brought up to date */
    int64_t first, last;
} tni_schur;
/* By the implicit double shift of real matrices, to 2 x 2 blocks with equal diagonals, and by the
 * single shift of complex ones. False if the iteration does not end. */
/* What is so small that it counts as zero in any matrix of order n. */
TN_PRIV double tni_schur_least(int64_t n);
/* Whether the elements under and over a diagonal element `at` count, which its neighbour differs
 * from by `apart` (M. Ahues, F. Tisseur, 1997, as LAPACK's dlahqr): if not, the matrix is cut. */
TN_PRIV bool tni_schur_apart(double under, double over, double at, double apart, double least);
TN_PRIV bool tni_schur_real(tni_schur *s);
TN_PRIV bool tni_schur_complex(tni_schur *s);

#endif
