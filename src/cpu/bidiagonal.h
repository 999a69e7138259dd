/* bidiagonal.h - singular values of matrices in scratch (bidiagonal.c). All planes are of doubles.
 */
#ifndef TNI_CPU_BIDIAGONAL_H
#define TNI_CPU_BIDIAGONAL_H

#include "tridiagonal.h"

/* Elements (numbers of a's dtype) of scratch that tni_singular needs beside a, u, v and n values,
 * where a has m >= n rows and n columns. */
TN_PRIV bool tni_singular_size(int64_t m, int64_t n, int64_t *elements);
/* a = U diag(d) V^H: d the singular values in falling order; u the first u->n columns of U, v (n x
 * n) those of V (both NULL: none). a, with m >= n, is overwritten. False, and NaN in d, where an
 * element is not finite or the iteration does not end. */
TN_PRIV bool tni_singular(tn_frame *f, const tni_planes *a, const tni_planes *u,
                          const tni_planes *v, double *d, void *scratch);

#endif
