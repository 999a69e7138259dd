/* factor.h - what gradients of factorizations are written with. NULL in, NULL out. */
#ifndef TNI_OPS_FACTOR_H
#define TNI_OPS_FACTOR_H

#include "../../gen/rows.h"

/* The conjugate transpose of every matrix. */
TNI_INLINE tn_tensor *tni_adjoint(tn_tensor *t) {
    tn_tensor *turned = tnp_transpose(t, -2, -1);
    return turned && tni_is_complex(turned->dtype) ? tnp_conj(turned) : turned;
}
/* (a + b) / 2 */
TNI_INLINE tn_tensor *tni_mean_of(tn_tensor *a, tn_tensor *b) {
    return tnp_mul_scalar(tnp_add(a, b, 1), tn_float(0.5));
}
/* t above the diagonal and half of it there, plus the adjoint of that: Hermitian. */
TNI_INLINE tn_tensor *tni_mirror_upper(tn_tensor *t) {
    tn_tensor *half = tni_mean_of(tnp_triu(t, 0), tnp_triu(t, 1));
    return tnp_add(half, tni_adjoint(half), 1);
}

#endif
