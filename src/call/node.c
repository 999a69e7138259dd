/* node.c - the tape's node: what a call leaves behind for its gradient.
 *
 * One block: header, slots (inputs, then outputs), argument struct, sizes, int lists. An input is
 * saved only if a wanted gradient reads it (`.needs`); of the others shape and dtype remain. Edges
 * count what they lead to: a node, or a leaf. A node dies by a worklist, so a chain of any length
 * needs no stack. */
#include "../api/ops/shape.h"
#include "call.h"

typedef struct node_plan {
    uint64_t needs; /* bit i input i, 32 + k output k, that wanted gradients read */
    uint64_t like;  /* bit i: input i < 64 has the shape of output 0 */
    int64_t words;  /* behind the slots */
    int slots;
} node_plan;

static int64_t node_words(int64_t bytes) { return (bytes + 7) / 8; }

/* n words; dimensions are few. */
TNI_INLINE void node_copy(int64_t *to, const int64_t *from, int n) {
    for (int i = 0; i < n; i++) to[i] = from[i];
}

/* Bit of slot i among needs: single tensors have bits of their own, members of a list share
 * their parameter's. */
static int node_bit(const tn_frame *f, int i) {
    int fixed = f->row->gen->nfixed;
    return i < fixed ? i : fixed; /* the lists of a row share one bit: optable numbers it nfixed */
}

static void node_count_needs(const tn_frame *f, node_plan *p) {
    const tn_gen *gen = f->row->gen;
    p->needs = 0;
    if (!gen->needs) return;
    /* Only gradients that are wanted count: what others read need not be kept. */
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && f->in[i]->flags & TNI_REQUIRES) p->needs |= gen->needs[node_bit(f, i)];
    p->needs &= ~f->unneeded;
}

/* Whether a wanted gradient reads input i, or output k. */
static bool node_reads_in(const tn_frame *f, const node_plan *p, int i) {
    return (p->needs >> node_bit(f, i) & 1) != 0;
}
static bool node_reads_out(const node_plan *p, int k) {
    return k < TNI_RESULTS && (p->needs >> (32 + k) & 1) != 0;
}

/* Whether parameter p points at something, and then the bytes at *from; 0: at nothing. */
TNI_INLINE bool node_points(const tn_param *p) { return (1u << p->type & TN_TYPES_BEHIND) != 0; }
TNI_INLINE int64_t node_behind(const tn_param *p, const void *args, const int64_t **from) {
    tn_ints l;
    if (p->type == TN_T_STRING) { /* shorter here than to ask for the trait */
        memcpy(from, (const char *)args + p->offset, sizeof *from);
        return *from ? (int64_t)strlen((const char *)(const void *)*from) + 1 : 0;
    }
    memcpy(&l, (const char *)args + p->offset, sizeof l);
    *from = l.at;
    return l.n > 0 ? l.n * (int64_t)sizeof *l.at : 0;
}

TN_PRIV int64_t tni_args_words(const tn_gen *gen, const void *args) {
    const int64_t *from;
    int64_t words = 0;
    for (int i = 0; i < gen->nparam; i++)
        if (node_points(&gen->param[i]))
            words += node_words(node_behind(&gen->param[i], args, &from));
    return words;
}

TN_PRIV int64_t *tni_args_copy(const tn_gen *gen, void *args, int64_t *to) {
    for (int i = 0; i < gen->nparam; i++) {
        const int64_t *from;
        int64_t bytes;
        if (!node_points(&gen->param[i])) continue;
        bytes = node_behind(&gen->param[i], args, &from);
        if (!bytes) continue;
        memcpy(to, from, (size_t)bytes);
        memcpy((char *)args + gen->param[i].offset, &to, sizeof to); /* a list's `at` comes first */
        to += node_words(bytes);
    }
    return to;
}

TN_PRIV void tni_args_members(const tn_gen *gen, void *args, tn_tensor **slots) {
    tn_tensors l;
    TNI_EACH_LIST(i, l, gen, args) {
        l.at = slots;
        slots += l.n;
        memcpy((char *)args + gen->param[i].offset, &l, sizeof l);
    }
}

/* The words behind the slots, in the order in which they will be filled: arguments, lists,
 * inputs, outputs. */
static void node_measure(const tn_frame *f, node_plan *p) {
    const tn_gen *gen = f->row->gen;
    const tn_tensor *first = f->nout > 0 ? f->out[0] : NULL;
    p->slots = f->nin + f->nout;
    p->like = 0;
    p->words = node_words(gen->args_size);
    if (gen->props & TN_PROP_INTS) p->words += tni_args_words(gen, f->args);
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (!t) continue;
        /* A number keeps its value (16 bytes), a saved input its geometry; of others the sizes
         * remain, shared with output 0 if they are the same. */
        if (t->flags & TNI_STACK) {
            p->words += 2;
        } else if (node_reads_in(f, p, i)) {
            p->words += 2 * t->ndim + 1;
        } else {
            /* Shape of output 0: no words of its own. */
            if (i < 64 && first && tni_same_shape(t, first))
                p->like |= (uint64_t)1 << i;
            else
                p->words += t->ndim;
        }
    }
    for (int k = 0; k < f->nout; k++) /* sizes, strides, offset */
        if (f->out[k]) p->words += 2 * f->out[k]->ndim + 1;
}

/* The argument struct as it was given, with lists of its own. */
static void node_copy_args(tn_frame *f, tni_node *n, int64_t *at) {
    const tn_gen *gen = f->row->gen;
    int64_t *words = (int64_t *)(void *)n;
    char *args = (char *)(words + *at);
    n->args_at = (uint32_t)*at;
    memcpy(args, f->args, gen->args_size);
    *at += node_words(gen->args_size);
    if (gen->props & TN_PROP_INTS) *at = tni_args_copy(gen, args, words + *at) - words;
}

/* Whether the call overwrites input t, so that a gradient must read a copy of it. */
static bool node_overwrites(const tn_frame *f, const tn_tensor *t) {
    const tn_gen *gen = f->row->gen;
    for (int k = 0; k < f->ngiven; k++)
        if (f->given[k]->storage == t->storage) return true;
    if (gen->props & TN_PROP_MUTATED)
        for (int i = 0; i < gen->nfixed; i++)
            if (tn_gen_tensor(gen, i)->flags & TN_P_MUTATED && f->in[i] &&
                !(f->unwritten >> i & 1) && f->in[i]->storage == t->storage)
                return true;
    return false;
}

/* Sizes, strides and offset of t, whose storage the slot has, so that a gradient can make a header
 * of them. */
static void node_geometry(tni_node *n, tni_slot *s, const tn_tensor *t, int64_t *at) {
    int64_t *words = (int64_t *)(void *)n + *at;
    s->at = (uint32_t)*at;
    s->device = t->device;
    node_copy(words, t->size, t->ndim);
    node_copy(words + t->ndim, t->stride, t->ndim);
    words[2 * t->ndim] = t->offset;
    *at += 2 * t->ndim + 1;
}

/* What a gradient needs of an input that is overwritten; a replay makes it anew. */
static bool node_copy_saved(tni_block *b, tn_tensor *copy, tn_tensor *from) {
    const uint8_t before = tni_state(b)->no_grad;
    bool ok;
    if (TNI_LIKELY(!(tni_load_relaxed(&b->hooks) & TNI_HOOK_RECORD))) {
        tni_copy_elements(b, copy, from);
        return true;
    }
    tni_state(b)->no_grad |= TNI_NO_GRAD;
    ok = tnp_copy_(copy, from) != NULL;
    tni_state(b)->no_grad = before;
    return ok;
}

/* Saves the storage, not the header: that may be written in place later and get a history which
 * leads back here. */
static bool node_save_input(tn_frame *f, tni_node *n, tni_slot *s, tn_tensor *t, int64_t *at) {
    tn_tensor *copy = NULL;
    if (TNI_UNLIKELY(t->flags & TNI_INFERENCE))
        return tn_fail(f, TN_AUTOGRAD,
                       "an input was made in inference mode and cannot be saved for backward; "
                       "clone it outside that mode");
    /* The copy is made now, while the input is as the gradient must see it. */
    if (TNI_UNLIKELY(node_overwrites(f, t))) {
        copy = tni_header(f->block, t->dtype, t->ndim, t->size, NULL);
        if (!copy) return false;
        tni_set_device(copy, t->device, (t->flags & TNI_META) != 0);
        if (!tni_set_storage(f->block, copy)) {
            tni_drop(f->block, copy);
            return false;
        }
        t = copy;
        if (!f->meta && !node_copy_saved(f->block, copy, f->in[s - n->slot])) {
            tni_drop(f->block, copy);
            return false;
        }
    }
    /* The version says later whether the memory was written since. */
    node_geometry(n, s, t, at);
    s->version = tni_slot_version(t, 0);
    s->saved = t->storage;
    s->kind = TNI_SLOT_SAVED;
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    if (copy) tni_drop(f->block, copy);
    return true;
}

/* Where the gradient of input t goes: to the call that made it, or to a leaf. */
TNI_INLINE void node_edge(tni_node *n, tni_slot *s, tn_tensor *t) {
    if (!(t->flags & TNI_REQUIRES)) return;
    s->edge_out = t->node_out;
    if (t->node) {
        tni_fetch_add_relaxed(&t->node->refs, 1u);
        s->edge = t->node;
        if (t->node->id >= n->id) n->id = t->node->id + 1;
    } else if (t->flags & TNI_LEAF) {
        tni_retain(t);
        s->edge = (void *)((uintptr_t)t | 1);
    }
}

static bool node_input(tn_frame *f, tni_node *n, const node_plan *p, int i, int64_t *at) {
    tni_slot *s = &n->slot[i];
    tn_tensor *t = f->in[i];
    int64_t *words = (int64_t *)(void *)n;
    if (!t) return true;
    /* What every slot has; then by kind: number, saved, or ghost. */
    s->dtype = t->dtype;
    s->ndim = t->ndim;
    s->device = t->device;
    if (t->flags & TNI_STACK) {
        s->kind = TNI_SLOT_NUMBER;
        s->at = (uint32_t)*at;
        memcpy(words + *at, t->storage->data, 16);
        *at += 2;
        return true;
    }
    s->kind = TNI_SLOT_GHOST;
    if (node_reads_in(f, p, i)) {
        if (!node_save_input(f, n, s, t, at)) return false;
    } else if (i >= 64 || !(p->like >> i & 1)) {
        s->at = (uint32_t)*at;
        node_copy(words + *at, t->size, t->ndim);
        *at += t->ndim;
    }
    /* Numbers have returned above: they have no edge. */
    node_edge(n, s, t);
    return true;
}

/* Output k: geometry always, since a gradient makes headers of that shape; the storage only
 * if it is read. */
static void node_output(const tn_frame *f, tni_node *n, const node_plan *p, int k, int64_t *at) {
    tni_slot *s = &n->slot[f->nin + k];
    tn_tensor *t = f->out[k];
    if (!t) return;
    s->kind = TNI_SLOT_GHOST;
    s->dtype = t->dtype;
    s->ndim = t->ndim;
    node_geometry(n, s, t, at);
    if (!node_reads_out(p, k)) return;
    s->kind = TNI_SLOT_OUT;
    s->saved = t->storage;
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    s->version = tni_slot_version(t, k < f->ngiven ? 1 : 0); /* this call's own write */
}

/* As tni_need, in short where a block of that size waits. */
TNI_INLINE tni_node *node_get(tni_block *b, int64_t bytes) {
    if (TNI_LIKELY(bytes <= TNI_SMALL)) {
        void **bin = &b->bin[(bytes + TNI_ALIGN - 1) / TNI_ALIGN], *at = *bin;
        if (TNI_LIKELY(at != NULL)) {
            *bin = *(void **)at; /* the next free block */
            return (tni_node *)at;
        }
    }
    return (tni_node *)tni_need(b, bytes);
}

/* All but slots and what they point at. */
TNI_INLINE void node_begin(tni_block *b, tni_node *n, const tn_row *row, int64_t bytes, int nin,
                           int nout) {
    n->row = row;
    n->id = tni_calls(b)->next_id++;
    n->file = b->place_file;
    n->line = b->place_line;
    n->refs = 0;
    n->owner = b;
    n->named.as = NULL;
    /* Not claimed, not queued, nothing released. */
    n->busy = 0;
    n->bytes = (uint32_t)bytes;
    n->nin = nin;
    n->nout = (uint16_t)nout;
    n->queued = n->useful = n->released = n->counted = n->packed = 0;
    n->unused = 0;
    n->streamed = 0;
    n->stream = 0;
    n->function = NULL;
    n->watch = NULL;
}

TN_PRIV tni_node *tni_node_new(tn_frame *f) {
    static const tni_slot nothing = {NULL, NULL, 0, 0, 0, 0, 0, TNI_SLOT_ABSENT, 0};
    tni_block *b = f->block;
    node_plan p;
    int64_t at, bytes;
    tni_node *n;
    /* Measured first, so that the node is one block. */
    node_count_needs(f, &p);
    node_measure(f, &p);
    at = node_words((int64_t)offsetof(tni_node, slot) + p.slots * (int64_t)sizeof(tni_slot));
    /* Slots hold places as 32-bit words. */
    if (at + p.words > UINT32_MAX / 8) {
        tn_fail(f, TN_UNSUPPORTED, "the arguments are too large to record");
        return NULL;
    }
    bytes = (at + p.words) * 8;
    n = node_get(b, bytes);
    if (!n) return NULL;
    node_begin(b, n, f->row, bytes, f->nin, f->nout);
    n->counted = f->row->uses != 0;
    tni_row_use(f->row, 1);
    /* All slots are empty at first: a failure on the way abandons the node as it is. */
    for (int i = 0; i < p.slots; i++) n->slot[i] = nothing;
    node_copy_args(f, n, &at);
    for (int i = 0; i < f->nin; i++)
        if (!node_input(f, n, &p, i, &at)) {
            tni_node_abandon(b, n);
            return (tni_node *)NULL;
        }
    for (int k = 0; k < f->nout; k++) node_output(f, n, &p, k, &at);
    /* Inputs of other threads may have larger numbers: the next one stays above all. */
    if (n->id >= tni_calls(b)->next_id) tni_calls(b)->next_id = n->id + 1;
    return n;
}

/* A slot of a tensor whose geometry stands at `at`; the storage is saved where `saves`. */
TNI_INLINE void node_slot_flat(tni_slot *s, const tn_tensor *t, int64_t at, int kind, bool saves) {
    s->saved = saves ? t->storage : NULL;
    s->edge = NULL;
    s->version = 0;
    s->edge_out = 0;
    s->at = (uint32_t)at;
    s->dtype = t->dtype;
    s->ndim = t->ndim;
    s->kind = (uint8_t)(saves ? kind : TNI_SLOT_GHOST);
    s->device = TN_CPU;
    if (!saves) return;
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    s->version = tni_slot_version(t, 0);
}

TN_PRIV bool tni_node_flat(tni_block *b, const tn_row *row, const void *args, tn_tensor *const *in,
                           int nin, tn_tensor *out) {
    /* Operands and result have one geometry, which all slots share. */
    const tn_gen *gen = row->gen;
    const int64_t slots = node_words((int64_t)offsetof(tni_node, slot) +
                                     (nin + 1) * (int64_t)sizeof(tni_slot)),
                  at = slots + node_words(gen->args_size), bytes = (at + 2 * out->ndim + 1) * 8;
    uint64_t needs = 0;
    tni_node *n = node_get(b, bytes);
    if (TNI_UNLIKELY(!n)) return false;
    node_begin(b, n, row, bytes, nin, 1);
    /* Arguments behind the slots, their lists behind them, then sizes of the input (unless they are
     * the result's) and the result's geometry. */
    n->args_at = (uint32_t)slots;
    memcpy((int64_t *)(void *)n + slots, args, gen->args_size);
    /* As node_count_needs and node_input, without lists, numbers or tensors that
     * are overwritten. */
    for (int i = 0; gen->needs && i < nin; i++)
        if (in[i]->flags & TNI_REQUIRES) needs |= gen->needs[i];
    for (int i = 0; i < nin; i++) {
        node_slot_flat(&n->slot[i], in[i], at, TNI_SLOT_SAVED, needs >> i & 1);
        node_edge(n, &n->slot[i], in[i]);
    }
    node_slot_flat(&n->slot[nin], out, at, TNI_SLOT_OUT, needs >> 32 & 1);
    node_copy((int64_t *)(void *)n + at, out->size, out->ndim);
    node_copy((int64_t *)(void *)n + at + out->ndim, out->stride, out->ndim);
    ((int64_t *)(void *)n)[at + 2 * out->ndim] = 0; /* the offset */
    if (n->id >= tni_calls(b)->next_id) tni_calls(b)->next_id = n->id + 1;
    n->refs = 1; /* of out, which nobody else knows yet */
    out->node = n;
    out->flags |= TNI_REQUIRES;
    out->edge_version = tni_load_relaxed(tni_version_of(out));
    return true;
}

TN_PRIV bool tni_node_view(tni_block *b, const tn_row *row, const void *args, tn_tensor *in,
                           tn_tensor *out) {
    const tn_gen *gen = row->gen;
    /* The gradient of a view reads shapes alone: both slots are ghosts. */
    const bool like = tni_same_shape(in, out);
    const int64_t slots =
                      node_words((int64_t)offsetof(tni_node, slot) + 2 * (int64_t)sizeof(tni_slot)),
                  lists = gen->props & TN_PROP_INTS ? tni_args_words(gen, args) : 0;
    int64_t at = slots + node_words(gen->args_size),
            bytes = (at + lists + (like ? 0 : in->ndim) + 2 * out->ndim + 1) * 8;
    tni_node *n = node_get(b, bytes);
    int64_t *words = (int64_t *)(void *)n;
    if (TNI_UNLIKELY(!n)) return false;
    node_begin(b, n, row, bytes, 1, 1);
    n->args_at = (uint32_t)slots;
    memcpy(words + slots, args, gen->args_size);
    if (lists) at = tni_args_copy(gen, words + slots, words + at) - words;
    /* Input: sizes only. Result: sizes, strides and offset. */
    node_slot_flat(&n->slot[0], in, like ? 0 : at, 0, false);
    n->slot[0].device = in->device;
    node_copy(words + at, in->size, like ? 0 : in->ndim);
    node_edge(n, &n->slot[0], in);
    at += like ? 0 : in->ndim;
    node_slot_flat(&n->slot[1], out, at, 0, false);
    node_geometry(n, &n->slot[1], out, &at);
    if (n->id >= tni_calls(b)->next_id) tni_calls(b)->next_id = n->id + 1;
    n->refs = 1; /* of out, which nobody else knows yet */
    out->node = n;
    out->flags |= TNI_REQUIRES;
    return true;
}

TN_PRIV void tni_node_hang(tni_block *b, tni_node *n, tn_tensor *t, int k) {
    /* The tensor's old history, if it was written in place, gives way. */
    tni_node *old = t->node;
    tni_fetch_add_relaxed(&n->refs, 1u);
    t->node = n;
    t->node_out = (uint32_t)k;
    t->flags = (uint16_t)((t->flags | TNI_REQUIRES) & ~TNI_LEAF);
    t->edge_version = tni_load_relaxed(tni_version_of(t));
    if (!old) return;
    if (t->flags & TNI_RETAIN) tni_watch_move(old, t);
    tni_node_drop(b, old);
}

static const tni_node_part *node_part(const tni_node *n) {
    return (const tni_node_part *)(const void *)n->function;
}

/* What hooks made of saved tensors, which begins with how it goes. */
static TNI_NOINLINE void node_unpacked(tni_block *b, tni_node *n) {
    for (int i = 0; i < n->nin + n->nout; i++) {
        tni_slot *s = &n->slot[i];
        tni_packed *p = s->kind == TNI_SLOT_PACKED ? (tni_packed *)s->saved : NULL;
        if (!p) continue;
        n->released = 1;
        s->saved = NULL;
        (*(void (**)(tni_block *, tni_packed *))(void *)p)(b, p);
    }
}

TN_PRIV void tni_node_release_saved(tni_block *b, tni_node *n) {
    /* released: a second backward through this node is an error. */
    const tni_slot *end = n->slot + n->nin + n->nout;
    if (TNI_UNLIKELY(n->packed)) node_unpacked(b, n);
    for (tni_slot *s = n->slot; s < end; s++) {
        void *saved = s->saved;
        if (!saved) continue;
        n->released = 1;
        s->saved = NULL;
        tni_storage_release(b, (tni_storage *)saved);
    }
    if (n->function && node_part(n)->spend(b, n->function)) n->released = 1;
}

static void node_free(tni_block *b, tni_node *n) {
    tni_node_release_saved(b, n);
    if (n->watch) tni_watch_free(b, n);
    if (n->counted) tni_row_use(n->row, -1);
    if (n->function) node_part(n)->free(b, n->function);
    /* Edges of inputs count nodes and leaves; those of outputs hold gradients that
     * were never taken. */
    const tni_slot *outputs = n->slot + n->nin, *end = outputs + n->nout;
    for (const tni_slot *s = n->slot; s < end; s++) {
        void *edge = s->edge;
        if (!edge) continue;
        if (s >= outputs)
            tni_release(b, (tn_tensor *)edge);
        else if (tni_edge_is_leaf(edge))
            tni_release(b, tni_edge_leaf(edge));
        else
            tni_node_drop(b, (tni_node *)edge);
    }
    /* A foreign node goes back to its owner's bins. */
    if (TNI_LIKELY(n->bytes <= TNI_SMALL))
        tni_put_bin(b, n->owner, n, n->bytes);
    else
        tni_put(b, n->owner, n, n->bytes);
}

TN_PRIV void tni_node_sweep(tni_block *b) {
    /* A walk is under way, further up the stack: it frees this node as well. So nodes are freed in
     * a loop, however long the chain. */
    if (tni_calls(b)->sweeping) return;
    tni_calls(b)->sweeping = true;
    while (tni_calls(b)->dead) {
        tni_node *n = tni_calls(b)->dead;
        tni_calls(b)->dead = n->named.dead;
        node_free(b, n);
    }
    tni_calls(b)->sweeping = false;
}

TN_PRIV void tni_node_drop(tni_block *b, tni_node *n) {
    if (tni_load(&n->refs) != 1 && tni_fetch_add(&n->refs, (uint32_t)-1) != 1) return;
    if (n->named.as) tni_row_use(n->named.as, -1);
    n->named.dead = tni_calls(b)->dead;
    tni_calls(b)->dead = n;
    tni_node_sweep(b);
}

TN_PRIV void tni_node_abandon(tni_block *b, tni_node *n) {
    n->refs = 1;
    tni_node_drop(b, n);
}

TN_API tn_tensor *tn_lend(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    /* A header of another thread cannot enter this thread's scope: a new one on the same data does,
     * with the same history. */
    tn_tensor *header;
    if (!b || !tni_state(b)->depth) return t;
    if (tni_is_freed(t)) {
        tni_freed_apart(b, t, "tn_lend");
        return NULL;
    }
    if (t->owner == b && !t->depth) return tni_move(b, t, tni_state(b)->depth);
    header = t;
    if (t->owner != b && (header = tni_share(b, t->storage, t)) != NULL && t->node)
        tni_node_hang(b, t->node, header, (int)t->node_out);
    tni_release(b, t);
    return header;
}
