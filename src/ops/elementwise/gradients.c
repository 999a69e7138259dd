/* gradients.c - what gradients of several files of this folder are made of. Has no rows.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "gradients.h"

/* Gradients of holomorphic functions multiply by the conjugate of the derivative (torch's
 * convention for complex numbers); a real tensor passes as it is, without a call. */
TN_PRIV tn_tensor *tni_conj_of(tn_tensor *t) {
    return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t;
}
TN_PRIV tn_tensor *tni_as_float(tn_frame *f, tn_tensor *t) {
    if (tni_dtype(t->dtype)->category >= TNI_CAT_FLOAT) return t;
    return tnp_to_dtype(t, tni_tensors(f->block->context)->default_dtype, false, false);
}
/* A factor of 1 costs no call, so common gradients stay short. */
TN_PRIV tn_tensor *tni_times(tn_tensor *t, double by) {
    return by == 1 ? t : tnp_mul_scalar(t, tn_float(by));
}
/* Not a product with the mask: 0 times an infinity would be NaN. */
TN_PRIV tn_tensor *tni_where_or_zero(tn_tensor *mask, tn_tensor *t) {
    return tnp_where_scalar(mask, t, tn_int(0));
}
TN_PRIV void tni_give_zeros(tn_gradient *g, int i) {
    if (g->want[i]) tn_give(g, i, tnp_zeros_like(g->incoming[0], TN_NO_DTYPE, TN_NO_DEVICE));
}
TN_PRIV void tni_give_zeros_all(tn_gradient *g) {
    for (int i = 0; i < g->nin; i++)
        if (g->want[i]) tn_give(g, i, tnp_zeros_like(g->in[i], TN_NO_DTYPE, TN_NO_DEVICE));
}
