/* watch.c - lists of those who wait for a gradient (tni_watch), as nodes and tensors come and go.
 * Calls no hook (autograd/hook.c). */
#include "call.h"

/* The watch at `at` goes. */
TN_PRIV void tni_watch_end(tni_block *b, tni_block *owner, tni_watch **at) {
    tni_watch *w = *at;
    *at = w->next;
    if (w->retain) w->retain->flags &= (uint16_t)~TNI_RETAIN;
    if (w->release) w->release(w->user);
    tni_put(b, owner, w, (int64_t)sizeof *w);
}

/* Finds t's watch; TNI_RETAIN guarantees one. */
static tni_watch **watch_retainer(tni_node *n, const tn_tensor *t) {
    tni_watch **at = &n->watch;
    while ((*at)->retain != t) at = &(*at)->next;
    return at;
}

TN_PRIV void tni_retain_forget(tni_block *b, tni_node *n, const tn_tensor *t) {
    tni_watch_end(b, n->owner, watch_retainer(n, t));
}

TN_PRIV void tni_watch_move(tni_node *old, tn_tensor *t) {
    tni_watch **at = watch_retainer(old, t), *w = *at;
    *at = w->next;
    w->out = t->node_out;
    w->next = t->node->watch;
    t->node->watch = w;
}

TN_PRIV void tni_watch_forget(tni_block *b, tn_tensor *t) {
    tni_watch **hooks = &((tni_extra *)t->extra)->hooks;
    while (*hooks) tni_watch_end(b, t->owner, hooks);
    if (t->flags & TNI_RETAIN) tni_retain_forget(b, t->node, t);
}

TN_PRIV void tni_watch_free(tni_block *b, tni_node *n) {
    while (n->watch) tni_watch_end(b, n->owner, &n->watch);
}
