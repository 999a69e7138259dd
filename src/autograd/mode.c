/* mode.c - what a thread records: gradient, inference and anomaly mode. Touches no tensor. */
#include "autograd.h"

TN_API bool tn_set_grad_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && !(tni_state(b)->no_grad & TNI_NO_GRAD);
    if (b) /* no_grad has two reasons, one bit each: this mode, and inference mode. */
        tni_state(b)->no_grad = (uint8_t)((tni_state(b)->no_grad & TNI_NO_GRAD_INFERENCE) |
                                          (enabled ? 0 : TNI_NO_GRAD));
    return before;
}
TN_API bool tn_grad_mode(void) {
    tni_block *b = tni_here();
    return b && !tni_state(b)->no_grad;
}
TN_API bool tn_set_inference_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && tni_state(b)->inference;
    if (!b) return false;
    /* New tensors carry the flag; nothing is recorded meanwhile. */
    tni_state(b)->inference = enabled ? TNI_INFERENCE : 0;
    tni_state(b)->no_grad =
        (uint8_t)((tni_state(b)->no_grad & TNI_NO_GRAD) | (enabled ? TNI_NO_GRAD_INFERENCE : 0));
    return before;
}
TN_API bool tn_set_anomaly_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && tni_library(b->context)->anomaly;
    if (b) tni_library(b->context)->anomaly = enabled;
    return before;
}
