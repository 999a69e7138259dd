/* lu.h - the LU factorization of a matrix in scratch (lu.c). */
#ifndef TNI_CPU_LU_H
#define TNI_CPU_LU_H

#include "matrix.h"

/* a becomes L below its diagonal, whose own is ones, and U; pivots (least of m and n) say with
 * which row, counted from 1, each was exchanged. Returns the first i, from 1, with U[i, i] = 0; 0:
 * none. */
TN_PRIV int32_t tni_lu_factor(const tni_planes *a, int32_t *pivots);
/* Exchanges rows of a as n pivots say, or back. */
TN_PRIV void tni_lu_exchange(const tni_planes *a, const int32_t *pivots, int64_t n, bool back);
/* A x = b in place of b; `adjoint`: A^H x = b, and lu is the adjoint of what tni_lu_factor gave. */
TN_PRIV void tni_lu_solve(const tni_planes *lu, const int32_t *pivots, const tni_planes *x,
                          bool adjoint);

#endif
