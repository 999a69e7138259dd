/* lapack.h - factorizations by the LAPACK that the program links, with TN_USE_LAPACK (lapack.c).
 *
 * Each function has the contract of the one of this library that calls it first. It says that it
 * has done nothing where there is no LAPACK, a size does not fit its integers, or memory for its
 * workspace is missing: then the caller goes on by itself, with a as it was. What is in q then has
 * no meaning. */
#ifndef TNI_CPU_LAPACK_H
#define TNI_CPU_LAPACK_H

#include "matrix.h"

typedef enum tni_lapack {
    TNI_LAPACK_NOTHING, /* is done */
    TNI_LAPACK_DONE,
    TNI_LAPACK_ENDLESS /* the iteration does not end */
} tni_lapack;

#ifdef TN_USE_LAPACK
/* potrf of the lower triangle; getrf; geqrf; orgqr of n reflections. */
TN_PRIV bool tni_lapack_cholesky(const tni_planes *l, int32_t *info);
TN_PRIV bool tni_lapack_lu(const tni_planes *a, int32_t *pivots, int32_t *info);
TN_PRIV bool tni_lapack_qr(const tni_planes *a, const tni_planes *taus);
TN_PRIV bool tni_lapack_product(const tni_planes *a, int64_t n, const tni_planes *taus,
                                const tni_planes *q);
/* syevd, gesdd, geev, of doubles. Of geev's eigenvectors a gets the columns: of a real a, the parts
 * of a pair side by side. */
TN_PRIV tni_lapack tni_lapack_hermitian(const tni_planes *a, const tni_planes *q, double *d);
TN_PRIV tni_lapack tni_lapack_singular(const tni_planes *a, const tni_planes *u,
                                       const tni_planes *v, double *d);
TN_PRIV tni_lapack tni_lapack_eigen(const tni_planes *a, double *values, bool vectors);
#else
TNI_INLINE bool tni_lapack_cholesky(const tni_planes *l, int32_t *info) {
    (void)l;
    (void)info;
    return false;
}
TNI_INLINE bool tni_lapack_lu(const tni_planes *a, int32_t *pivots, int32_t *info) {
    (void)a;
    (void)pivots;
    (void)info;
    return false;
}
TNI_INLINE bool tni_lapack_qr(const tni_planes *a, const tni_planes *taus) {
    (void)a;
    (void)taus;
    return false;
}
TNI_INLINE bool tni_lapack_product(const tni_planes *a, int64_t n, const tni_planes *taus,
                                   const tni_planes *q) {
    (void)a;
    (void)n;
    (void)taus;
    (void)q;
    return false;
}
TNI_INLINE tni_lapack tni_lapack_hermitian(const tni_planes *a, const tni_planes *q, double *d) {
    (void)a;
    (void)q;
    (void)d;
    return TNI_LAPACK_NOTHING;
}
TNI_INLINE tni_lapack tni_lapack_singular(const tni_planes *a, const tni_planes *u,
                                          const tni_planes *v, double *d) {
    (void)a;
    (void)u;
    (void)v;
    (void)d;
    return TNI_LAPACK_NOTHING;
}
TNI_INLINE tni_lapack tni_lapack_eigen(const tni_planes *a, double *values, bool vectors) {
    (void)a;
    (void)values;
    (void)vectors;
    return TNI_LAPACK_NOTHING;
}
#endif

#endif
