/* history.c - recorded calls as code beside the library sees them: what made a tensor, from which
 * inputs, where. Changes nothing but the count of a call. */
#include "autograd.h"

TN_API tn_history *tn_history_of(tn_tensor *t) {
    tni_block *b;
    if (!tni_there(t, "tn_history_of")) return NULL;
    t = tni_all_of(t);
    b = tni_here();
    if (b && !b->failed && tni_view_is_stale(t) && !tni_view_refresh(b, t)) tni_leave(b, false);
    return t->node;
}
TN_API tn_history *tn_history_hold(tn_history *h) {
    if (h) tni_fetch_add_relaxed(&h->refs, 1u);
    return h;
}
TN_API void tn_history_free(tn_history *h) {
    tni_block *b = h ? tni_here() : NULL;
    if (b) tni_node_drop(b, h);
}
TN_API bool tn_history_only(const tn_history *h, const tn_tensor *t) {
    return h && tni_there(t, "tn_history_only") && t->node == h && tni_load(&h->refs) == 1;
}
TN_API const char *tn_history_name(const tn_history *h) { return h ? h->row->name : NULL; }
TN_API int tn_history_output(const tn_tensor *t) {
    if (!tni_there(t, "tn_history_output")) return 0;
    t = tni_all_of(t);
    return t->node ? (int)t->node_out : 0;
}

TN_API bool tn_history_input(const tn_history *h, int i, tn_history **call, int *result,
                             tn_tensor **leaf) {
    void *edge;
    *call = NULL;
    *leaf = NULL;
    *result = 0;
    if (!h || i < 0 || i >= h->nin) return false;
    /* An edge is a node, a leaf (its lowest bit is set), or nothing. */
    edge = h->slot[i].edge;
    if (edge && tni_edge_is_leaf(edge)) *leaf = tni_edge_leaf(edge);
    if (edge && !*leaf) {
        *call = (tn_history *)edge;
        *result = (int)h->slot[i].edge_out;
    }
    return true;
}

/* Slots of one geometry share the words. */
static bool history_is_large(const tni_node *n, int64_t elements) {
    const int64_t *words = (const int64_t *)(const void *)n;
    uint32_t last = 0;
    for (int i = 0; i < n->nin + n->nout; i++) {
        const tni_slot *s = &n->slot[i];
        int64_t numel = 1;
        if (s->at == last || s->kind == TNI_SLOT_ABSENT || s->kind == TNI_SLOT_NUMBER) continue;
        last = s->at;
        for (int d = 0; d < s->ndim; d++)
            if (!tni_mul(numel, words[s->at + (uint32_t)d], &numel)) return true;
        if (numel > elements) return true;
    }
    return false;
}

TN_API bool tn_history_lasts(const tn_tensor *t, int64_t elements) {
    /* A walk over at most 64 calls: a longer history counts as lasting. */
    const tni_node *waiting[64];
    int n = 0, seen = 0;
    if (tni_there(t, "tn_history_lasts") && t->node) waiting[n++] = t->node;
    while (n) {
        const tni_node *h = waiting[--n];
        if (history_is_large(h, elements)) return true;
        for (int i = 0; i < h->nin; i++) {
            const void *edge = h->slot[i].edge;
            /* A leaf is no call. */
            if (!edge || tni_edge_is_leaf(edge)) continue;
            if (++seen == 64) return true;
            waiting[n++] = (const tni_node *)edge;
        }
    }
    return false;
}

TN_PRIV void tni_node_error(tni_block *b, const tni_node *n) {
    if (n->file)
        tni_error_more(b, "\n  forward call: %s at %s:%d", n->row->name, n->file,
                       tni_line(b, n->file, n->line));
    else
        tni_error_more(b, "\n  forward call: %s", n->row->name);
}
