/* ldl.h - A = L D L^T of a symmetric matrix in scratch (ldl.c). */
#ifndef TNI_CPU_LDL_H
#define TNI_CPU_LDL_H

#include "matrix.h"

/* Of a symmetric, or with `hermitian` Hermitian, matrix whose lower triangle is given: that
 * triangle becomes the unit lower triangular L below D, which has blocks of 1 and 2 rows on its
 * diagonal. pivots as LAPACK's sytrf writes them: p > 0, row i was exchanged with row p, from 1;
 * two equal p < 0, rows i and i + 1 are a block and row i + 1 was exchanged with row -p. Returns
 * the first i, from 1, whose D is exactly 0; 0: none. */
TN_PRIV int32_t tni_ldl_factor(const tni_planes *a, int32_t *pivots, bool hermitian);
/* A x = b in place of b. */
TN_PRIV void tni_ldl_solve(const tni_planes *ld, const int32_t *pivots, const tni_planes *x,
                           bool hermitian);

#endif
