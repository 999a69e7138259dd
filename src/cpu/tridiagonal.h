/* tridiagonal.h - eigenvalues of Hermitian matrices in scratch (tridiagonal.c). All planes are of
 * doubles. */
#ifndef TNI_CPU_TRIDIAGONAL_H
#define TNI_CPU_TRIDIAGONAL_H

#include "householder.h"
#include "rotations.h"

/* Elements (numbers of a's dtype) of scratch that tni_hermitian needs beside a, q and n values. */
TN_PRIV bool tni_hermitian_size(int64_t n, int64_t *elements);
/* Of the Hermitian a, both of whose triangles are given: d the eigenvalues in rising order, q the
 * eigenvectors as columns (NULL: none). a is overwritten. False, and NaN in d, where an element is
 * not finite or the iteration does not end. */
TN_PRIV bool tni_hermitian(tn_frame *f, const tni_planes *a, const tni_planes *q, double *d,
                           void *scratch);
/* Multiplies by 2^power. */
TN_PRIV void tni_planes_scale(const tni_planes *a, int power);
/* The largest part of an element; NaN if one is. */
TN_PRIV double tni_planes_largest(const tni_planes *a);

#endif
