/* pack.c - what the user's hooks make of a tensor that is kept for a gradient, and how it comes
 * back. Knows no call (saved.c). */
#include "autograd.h"
#include "../api/ops/shape.h"

/* What the user's pack returned. */
struct tni_packed {
    tni_packed_ways ways;   /* first: call/node.c knows drop alone */
    tni_saved_hooks *hooks; /* counted */
    tni_block *owner;
    uint32_t refs; /* of the slot, and of each unpack that runs: the hook may end the slot's */
    void *value;
    tni_saved_edge edge; /* of a custom function's: counted */
    int32_t ndim;
    int64_t size[1]; /* ndim of them */
};

TN_PRIV void tni_saved_forget(tni_block *b, tni_saved_hooks *s) {
    if (tni_fetch_add(&s->refs, (uint32_t)-1) != 1) return;
    if (s->h.release) s->h.release(s->h.user);
    tni_put(b, s->owner, s, (int64_t)sizeof *s);
}

static int64_t pack_bytes(int ndim) {
    return (int64_t)sizeof(tni_packed) + ndim * (int64_t)sizeof(int64_t);
}
TN_PRIV void tni_packed_drop(tni_block *b, tni_packed *p) {
    if (tni_fetch_add(&p->refs, (uint32_t)-1) != 1) return;
    if (p->hooks->h.drop) p->hooks->h.drop(p->value, p->hooks->h.user);
    tni_saved_forget(b, p->hooks);
    if (p->edge.leaf) tni_release(b, p->edge.leaf);
    if (p->edge.node) tni_node_drop(b, p->edge.node);
    tni_put(b, p->owner, p, pack_bytes(p->ndim));
}

/* What the hooks make of t, which they must not write; NULL with an error. */
static void *pack_value(tni_block *b, const tni_saved_hooks *s, tn_tensor *t) {
    const uint32_t version = tni_load_relaxed(tni_version_of(t));
    tn_guard g = tn_guard_begin();
    void *value;
    tni_state(b)->no_grad |= TNI_NO_GRAD;
    b->place_hold++;
    value = s->h.pack(t, s->h.user);
    b->place_hold--;
    tn_guard_end(&g, NULL, 0);
    if (!b->failed && !value)
        tni_error(b, TN_INVALID, "a pack hook failed without setting an error");
    if (!b->failed && tni_load_relaxed(tni_version_of(t)) != version)
        tni_error(b, TN_AUTOGRAD,
                  "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                  "input to pack hook can not be modified by in-place operations as this can lead "
                  "to unexpected side-effects");
    if (!b->failed) return value;
    if (value && s->h.drop) s->h.drop(value, s->h.user);
    return NULL;
}

static tn_tensor *pack_back(tni_block *b, tni_packed *p, const tni_saved_edge *edge);
TN_PRIV tni_packed *tni_pack(tni_block *b, tni_saved_hooks *s, tn_tensor *t) {
    tni_packed *p = (tni_packed *)tni_need(b, pack_bytes(t->ndim));
    if (!p) return NULL;
    /* Counted first: the hooks may be closed by what they call. */
    tni_fetch_add_relaxed(&s->refs, 1u);
    if (!(p->value = pack_value(b, s, t))) {
        tni_saved_forget(b, s);
        tni_put(b, b, p, pack_bytes(t->ndim));
        return (tni_packed *)NULL;
    }
    p->ways.drop = tni_packed_drop;
    p->ways.unpack = pack_back;
    p->hooks = s;
    p->owner = b;
    p->refs = 1;
    memset(&p->edge, 0, sizeof p->edge);
    p->ndim = t->ndim;
    memcpy(p->size, t->size, (size_t)t->ndim * sizeof *p->size);
    return p;
}

TN_PRIV tni_packed *tni_pack_whole(tni_block *b, tni_saved_hooks *s, tn_tensor *t) {
    const int64_t mark = tni_begin(b);
    tn_tensor *plain = mark < 0 ? NULL : tni_share(b, t->storage, t);
    tni_packed *p = plain ? tni_pack(b, s, plain) : NULL;
    tni_end(b, mark);
    if (!p) return NULL;
    p->edge.out = (int)t->node_out;
    if ((p->edge.node = t->node) != NULL) tni_fetch_add_relaxed(&t->node->refs, 1u);
    if (!t->node && t->flags & TNI_REQUIRES) tni_retain(p->edge.leaf = t);
    return p;
}
TN_PRIV const tni_saved_edge *tni_packed_edge(const tni_packed *p) { return &p->edge; }

/* A header without history over what a hook returned, or that tensor where nothing leads to it. */
static tn_tensor *pack_header(tni_block *b, tn_tensor *t, const tni_saved_edge *edge) {
    tn_tensor *whole, *leaf = edge->leaf;
    if (!edge->node && !leaf) return t;
    /* A view of the leaf has the history that the header gets. */
    whole = tni_share(b, t->storage, t);
    if (whole && leaf) leaf = tnp_view(leaf, tni_ints(leaf->size, leaf->ndim));
    if (!whole || (edge->leaf && !leaf)) return NULL;
    tni_node_hang(b, leaf ? leaf->node : edge->node, whole, leaf ? 0 : edge->out);
    return whole;
}

static tn_tensor *pack_undone(tni_block *b, const tni_packed *p, const tni_saved_edge *edge) {
    char text[128];
    tn_guard g = tn_guard_begin();
    tn_tensor *t;
    b->place_hold++;
    t = p->hooks->h.unpack(p->value, p->hooks->h.user);
    b->place_hold--;
    tn_guard_end(&g, &t, t && !b->failed ? 1 : 0);
    if (!t || b->failed) {
        if (!b->failed) tni_error(b, TN_INVALID, "an unpack hook failed without setting an error");
        return NULL;
    }
    if (!tni_belongs(b, t, "an unpack hook")) return NULL;
    /* Gradients read no more than the shape that was saved. */
    if (t->ndim != p->ndim || memcmp(t->size, p->size, (size_t)p->ndim * sizeof *p->size) != 0) {
        tni_error(b, TN_AUTOGRAD, "an unpack hook returned %s, not the shape that was packed",
                  tni_tensor_text(text, sizeof text, t));
        return NULL;
    }
    return pack_header(b, t, edge);
}

static tn_tensor *pack_back(tni_block *b, tni_packed *p, const tni_saved_edge *edge) {
    tn_tensor *t;
    tni_fetch_add_relaxed(&p->refs, 1u); /* a backward in the hook may drop it */
    t = pack_undone(b, p, edge);
    tni_packed_drop(b, p);
    return t;
}
