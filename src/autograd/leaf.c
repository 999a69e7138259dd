/* leaf.c - tensors that gather gradients: requires_grad, .grad, and history that is dropped. */
#include "autograd.h"

/* One sample requires grad if the whole batch does. */
static bool leaf_of_batch(tn_tensor *t, bool requires_grad) {
    if (!tn_requires_grad_at(NULL, 0, tni_batch_of_sample(t), requires_grad)) return false;
    t->flags =
        (uint16_t)((t->flags & ~(unsigned)TNI_REQUIRES) | (requires_grad ? TNI_REQUIRES : 0));
    return true;
}

/* Of a sparse tensor the values require grad. */
static bool leaf_of_values(tn_tensor *t, bool requires_grad) {
    return tn_requires_grad_at(NULL, 0, tni_values_of(t), requires_grad) != NULL;
}

TN_API tn_tensor *tn_requires_grad_at(const char *file, int line, tn_tensor *t,
                                      bool requires_grad) {
    tni_block *b = tni_here();
    bool ok = true;
    if (!tni_enter(b, file, line)) return NULL;
    /* Only a floating leaf of this context may change; each refusal says why. */
    if (!t)
        ok = tni_error(b, TN_INVALID, "tn_requires_grad: the tensor is NULL");
    else if (!tni_belongs(b, t, "tn_requires_grad"))
        ok = false;
    else if (t->flags & TNI_BATCHED)
        ok = leaf_of_batch(t, requires_grad);
    else if (t->flags & TNI_SPARSE)
        ok = leaf_of_values(t, requires_grad);
    else if (t->node)
        ok = tni_error(
            b, TN_AUTOGRAD,
            "tn_requires_grad: only a leaf can change this; detach this result of %s first",
            t->node->row->name);
    else if (requires_grad && t->flags & TNI_INFERENCE && !tni_state(b)->inference)
        ok = tni_error(b, TN_AUTOGRAD,
                       "tn_requires_grad: the tensor was made in inference mode; clone it first");
    else if (requires_grad && tni_dtype(t->dtype)->category < TNI_CAT_FLOAT)
        ok = tni_error(
            b, TN_TYPE,
            "tn_requires_grad: only floating and complex tensors can require grad, got %s",
            tni_dtype(t->dtype)->text);
    else if (requires_grad)
        t->flags |= TNI_REQUIRES | TNI_LEAF;
    else
        t->flags &= (uint16_t) ~(TNI_REQUIRES | TNI_LEAF);
    return tni_leave(b, ok) ? t : NULL;
}

/* A view learns at its next use that its base has got a history since. */
TN_API bool tn_needs_grad(const tn_tensor *t) {
    if (!tni_there(t, "tn_needs_grad")) return false;
    t = tni_all_of(tni_values_of(t));
    return t->flags & TNI_REQUIRES || tni_view_is_stale(t);
}
TN_API bool tn_is_leaf(const tn_tensor *t) {
    if (!tni_there(t, "tn_is_leaf")) return false;
    t = tni_all_of(tni_values_of(t));
    return !t->node && !(t->flags & TNI_VIEW && t->base->node);
}
TN_API const char *tn_grad_fn(const tn_tensor *t) {
    if (!tni_there(t, "tn_grad_fn")) return NULL;
    t = tni_all_of(tni_values_of(t));
    return t->node ? t->node->row->name : NULL;
}
TN_API bool tn_is_inference(const tn_tensor *t) {
    return tni_there(t, "tn_is_inference") && t->flags & TNI_INFERENCE;
}
TN_API tn_tensor *tn_grad_of(const tn_tensor *t) {
    return tni_there(t, "tn_grad_of") ? t->grad : NULL;
}

static bool leaf_set_grad(tni_block *b, tn_tensor *t, tn_tensor *grad) {
    tn_tensor *old;
    if (!t) return tni_error(b, TN_INVALID, "tn_set_grad: the tensor is NULL");
    if (!tni_belongs(b, t, "tn_set_grad") || (grad && !tni_belongs(b, grad, "tn_set_grad")))
        return false;
    if (t->flags & TNI_BATCHED || (grad && grad->flags & TNI_BATCHED))
        return tni_error(b, TN_UNSUPPORTED, "tn_set_grad: a tensor is a sample of a batch");
    if (t->flags & TNI_SPARSE)
        return tni_error(b, TN_UNSUPPORTED, "tn_set_grad: the gradient is that of its values");
    if (grad && (!tni_same_shape(t, grad) || t->dtype != grad->dtype))
        return tni_error(b, TN_INVALID,
                         "tn_set_grad: the gradient must have the tensor's shape and dtype");
    if (grad && !tni_grad_layout(b, grad, "tn_set_grad")) return false;
    if (grad && grad->device != t->device)
        return tni_error(b, TN_INVALID, "tn_set_grad: the gradient must be on the tensor's device");
    /* Counted before the old one is dropped: it may be the same. */
    tni_retain(grad);
    old = t->grad;
    t->grad = grad;
    tni_release(b, old);
    return true;
}

TN_API bool tn_set_grad_at(const char *file, int line, tn_tensor *t, tn_tensor *grad) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) && tni_leave(b, leaf_set_grad(b, t, grad));
}
TN_API bool tnp_set_grad(tn_tensor *t, tn_tensor *grad) { return tn_set_grad_at(NULL, 0, t, grad); }

TN_API void tn_zero_grad(tn_tensor *t) {
    tni_block *b = tni_there(t, "tn_zero_grad") && t->grad ? tni_here() : NULL;
    tn_tensor *old;
    if (!b) return;
    old = t->grad;
    t->grad = NULL;
    tni_release(b, old);
}

TN_API bool tn_detach_inplace_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    tni_node *old;
    if (!tni_enter(b, file, line)) return false;
    if (!t) return tni_leave(b, tni_error(b, TN_INVALID, "tn_detach_: the tensor is NULL"));
    if (!tni_belongs(b, t, "tn_detach_")) return tni_leave(b, false);
    if (t->flags & TNI_SPARSE) return tni_leave(b, tn_detach_inplace_at(NULL, 0, tni_values_of(t)));
    if (t->flags & TNI_BATCHED) {
        const bool ok = tn_detach_inplace_at(NULL, 0, tni_batch_of_sample(t));
        t->flags &= (uint16_t)~TNI_REQUIRES;
        return tni_leave(b, ok);
    }
    if (t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES) {
        tni_error(b, TN_AUTOGRAD, "Can't detach views in-place. Use detach() instead.");
        return tni_leave(b, false);
    }
    /* Its wish to retain a gradient goes first, since the node lists it. */
    old = t->node;
    if (old && t->flags & TNI_RETAIN) tni_retain_forget(b, old, t);
    t->node = NULL;
    t->node_out = 0;
    t->flags &= (uint16_t) ~(TNI_REQUIRES | TNI_LEAF);
    if (old) tni_node_drop(b, old);
    return tni_leave(b, true);
}
