/* extra.c - what few tensors have: hooks of a leaf, and the object of a language binding. */
#include "tensor.h"

TN_PRIV tni_extra *tni_extra_of(tni_block *b, tn_tensor *t) {
    tni_extra *e = tni_extra_there(t);
    /* Only few tensors have extras; a binding that the tensor does not own lies in the pointer
     * itself, marked by its lowest bit. */
    if (e) return e;
    e = (tni_extra *)tni_need(b, (int64_t)sizeof *e);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    /* The object that the pointer held moves into the struct. */
    e->binding = tn_binding(t);
    t->extra = e;
    return e;
}

TN_PRIV void tni_extra_free(tni_block *b, tn_tensor *t) {
    tni_extra *e = (tni_extra *)t->extra;
    /* Hooks first, then the binding, whose release may look at the tensor. */
    if (e->forget) e->forget(b, t);
    t->extra = NULL;
    if (e->binding_release) e->binding_release(e->binding);
    tni_put(b, t->owner, e, (int64_t)sizeof *e);
}

TN_API void *tn_binding(const tn_tensor *t) {
    tni_extra *e;
    if (TNI_CHECK && !tni_there(t, "tn_binding")) return NULL;
    e = tni_extra_there(t);
    return e ? e->binding : t->extra ? (char *)t->extra - 1 : NULL;
}

TN_API bool tn_set_binding(tn_tensor *t, void *object, void (*release)(void *object)) {
    /* Without release no struct is needed: the object's address plus 1 is kept. */
    tni_extra *e;
    if (TNI_CHECK && !tni_there(t, "tn_set_binding")) return false;
    e = release ? tni_extra_of(tni_here(), t) : tni_extra_there(t);
    if (release && !e) return false;
    if (e) {
        e->binding = object;
        e->binding_release = release;
    } else {
        t->extra = object ? (char *)object + 1 : NULL;
    }
    return true;
}
