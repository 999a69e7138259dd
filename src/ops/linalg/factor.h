/* factor.h - what gradients of factorizations are written with. NULL in, NULL out. */
#ifndef TNI_OPS_FACTOR_H
#define TNI_OPS_FACTOR_H

#include "../../gen/rows.h"

/* The conjugate transpose of every matrix. */
TNI_INLINE tn_tensor *tni_adjoint(tn_tensor *t) {
    tn_tensor *turned = tnp_transpose(t, -2, -1);
    return turned && tni_is_complex(turned->dtype) ? tnp_conj(turned) : turned;
}
/* The last dimension, and the last two, for sums. */
static TNI_UNUSED const int64_t tni_last_dims[2] = {-2, -1};
TNI_INLINE tn_ints tni_last_dim(void) { return tni_ints(tni_last_dims + 1, 1); }
TNI_INLINE tn_ints tni_last_two(void) { return tni_ints(tni_last_dims, 2); }
/* The n x n unit matrix of t's dtype, on its device. */
TNI_INLINE tn_tensor *tni_unit_of(const tn_tensor *t, int64_t n) {
    return t ? tnp_eye(n, (tn_dtype)t->dtype, (tn_device_id)t->device) : NULL;
}
/* A copy of t whose last two dimensions are column-major. */
TNI_INLINE tn_tensor *tni_in_columns(tn_tensor *t) {
    t = tnp_clone(tnp_transpose(t, -2, -1), TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    return tnp_transpose(t, -2, -1);
}
/* t with the number `value` on the diagonals of its matrices. */
TNI_INLINE tn_tensor *tni_diagonal_filled(tn_tensor *t, double value) {
    if (!t) return NULL;
    return tnp_masked_fill_scalar(
        t, tnp_eye_m(t->size[t->ndim - 2], t->size[t->ndim - 1], TN_BOOL, (tn_device_id)t->device),
        tn_float(value));
}
/* Square matrices with t's last dimension on their diagonals. */
TNI_INLINE tn_tensor *tni_diagonal_of(tn_tensor *t) {
    return t ? tnp_mul(tnp_unsqueeze(t, -2), tni_unit_of(t, t->size[t->ndim - 1])) : NULL;
}
/* For compose: whether input k is recorded. */
TNI_INLINE bool tni_grows_tape(const tn_frame *f, int k) {
    return (f->in[k]->flags & TNI_REQUIRES) && !tni_state(f->block)->no_grad;
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
