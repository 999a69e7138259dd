/* householder.h - reflections of a matrix in scratch, one by one and as blocks (householder.c). */
#ifndef TNI_CPU_HOUSEHOLDER_H
#define TNI_CPU_HOUSEHOLDER_H

#include "matrix.h"

/* So many reflections are applied at once. */
enum { TNI_REFLECTIONS = 32 };

/* sqrt(a^2 + b^2) without overflow on the way. */
TN_PRIV double tni_length(double a, double b);
/* The norm of a[i..m, j], where squares would overflow or vanish of scaled numbers. */
TN_PRIV double tni_column_norm(const tni_planes *a, int64_t i, int64_t j);
/* H = I - tau v v^H, whose adjoint takes a[i..m, j] to beta e_1 with a real beta: v_0 is 1, the
 * rest of v replaces the column below row i, beta row i (LAPACK's larfg). Returns tau. */
TN_PRIV tni_pair tni_reflection(const tni_planes *a, int64_t i, int64_t j);
/* x[i.., c] -= tau v (v^H x[i.., c]), with v in a[i.., j]. */
TN_PRIV void tni_reflect(const tni_planes *a, int64_t i, int64_t j, const tni_planes *x, int64_t c,
                         tni_pair tau);

/* A block of up to TNI_REFLECTIONS reflections: H_0 H_1 ... = I - V T V^H (R. Schreiber, C. Van
 * Loan, A storage-efficient WY representation, 1989). */
typedef struct tni_reflectors {
    tni_planes v, t, w, u; /* w, u: room for products with as many columns as are given */
} tni_reflectors;
/* Elements of scratch for blocks of m rows that are applied to n columns. */
TN_PRIV bool tni_reflectors_size(int64_t m, int64_t n, int64_t *elements);
TN_PRIV tni_reflectors tni_reflectors_in(tn_frame *f, void **scratch, int dtype, int64_t m,
                                         int64_t n);
/* Takes k reflections from columns [j, j + k) of a, of which the first begins in row i. */
TN_PRIV void tni_reflectors_take(tni_reflectors *r, const tni_planes *a, int64_t i, int64_t j,
                                 int64_t k, const tni_planes *taus);
/* x -= V op(T) V^H x, of as many rows as V has; `adjoint`: the adjoint of the block. */
TN_PRIV void tni_reflectors_apply(const tni_reflectors *r, const tni_planes *x, bool adjoint);

/* The first q->n columns of the product of the n reflections in a, of which number j begins in row
 * j + below of column j. */
TN_PRIV void tni_reflections_product(tni_reflectors *r, const tni_planes *a, int64_t n,
                                     int64_t below, const tni_planes *taus, const tni_planes *q);
/* x becomes op(H_0 H_1 ...) x of the n reflections in a. */
TN_PRIV void tni_reflections_apply(tni_reflectors *r, const tni_planes *a, int64_t n, int64_t below,
                                   const tni_planes *taus, const tni_planes *x, bool adjoint);
/* a becomes R on and above its diagonal, the reflections below it; taus their factors. */
TN_PRIV void tni_qr_factor(tni_reflectors *r, const tni_planes *a, const tni_planes *taus);

#endif
