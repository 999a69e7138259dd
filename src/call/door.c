/* door.c - the one way into every operator: enter, check, look, prepare, run, publish.
 *
 * Everything that can fail happens before publish: a row whose failures are found by computing has
 * a verdict behind `run`, and what it writes is new or a temporary until then. The door branches on
 * properties of the row and the call (composed? lists? in place? recording?), never on an
 * operator's name. */
#include "types.h"

enum { DOOR_MOST = 1 << 24 }; /* tensors that a call is given */

/* --- enter: arguments become slots ------------------------------------------------------------ */

static bool door_argument_error(tn_frame *f, const tn_param *p) {
    return tn_fail(f, TN_INVALID, "argument '%s' is NULL", p->name);
}

/* A 0-dim tensor of the number's kind on the caller's stack. Rows see it like any tensor; its flags
 * keep it out of the tape's edges and of results. */
TN_PRIV tn_tensor *tni_number_wrap(tni_block *b, tni_number *n, tn_scalar s) {
    /* By kind: a float is double precision until promotion gives it the tensors' dtype. */
    static const uint8_t dtypes[] = {TN_NO_DTYPE, TN_NO_DTYPE, TN_BOOL, TN_I64, TN_F64, TN_C128};
    tn_tensor *t = &n->header;
    memset(t, 0, offsetof(tn_tensor, dims));
    memset(&n->storage, 0, sizeof n->storage);
    /* A count that nobody drops: the struct ends with the call. */
    t->refs = n->storage.refs = 1;
    t->dtype = dtypes[s.kind];
    t->capacity = 4;
    t->device = TN_CPU;
    t->flags = TNI_NUMBER | TNI_STACK | TNI_CONTIGUOUS;
    t->owner = n->storage.owner = b;
    t->numel = 1;
    /* No dimensions: size and stride point at room that is not read. */
    t->size = t->dims;
    t->stride = t->dims + 4;
    t->storage = &n->storage;
    n->storage.data = n->value;
    n->storage.bytes = sizeof n->value;
    n->storage.kind = TNI_DATA_INSIDE;
    tni_element_set(n->value, t->dtype, s);
    return t;
}

/* A tensor parameter that is NULL: a number in its place, an absent optional, or an error. */
static TNI_NOINLINE bool door_missing(tni_call *c, const tn_param *p, int i, int *numbers) {
    tn_frame *f = &c->f;
    if (p->flags & TN_P_NUMBER) {
        tn_scalar s;
        memcpy(&s, (const char *)f->args + p->number_offset, sizeof s);
        if (s.kind > TN_KIND_NONE && s.kind <= TN_KIND_COMPLEX) { /* 3: tni_schema_limits */
            f->in_[i] = tni_number_wrap(f->block, &c->number[(*numbers)++], s);
            return true;
        }
    }
    f->in_[i] = NULL;
    return (p->flags & TN_P_OPTIONAL) || door_argument_error(f, p);
}

/* Appends the members of tensor lists behind the single tensors. */
static TNI_NOINLINE bool door_lists(tni_call *c, unsigned *any) {
    tn_frame *f = &c->f;
    const tn_gen *gen = f->row->gen;
    /* First counts, so that all slots are one array; then fills it in schema order. */
    int64_t total = f->nin;
    tn_tensors l;
    TNI_EACH_LIST(i, l, gen, f->args) {
        if (l.n < 0 || (l.n > 0 && !l.at)) return door_argument_error(f, &gen->param[i]);
        if (!tni_add(total, l.n, &total) || total > DOOR_MOST)
            return tn_fail(f, TN_INVALID, "argument '%s' has %lld tensors, expected at most %d",
                           gen->param[i].name, (long long)l.n, (int)DOOR_MOST);
    }
    /* The frame has room for a few; more come from memory, the single tensors copied
     * to the front. */
    if (total > TNI_IN) {
        c->in_bytes = total * (int64_t)sizeof(tn_tensor *);
        c->in_more = (tn_tensor **)tni_need(f->block, c->in_bytes);
        if (!c->in_more) return false;
        memcpy(c->in_more, f->in_, (size_t)f->nin * sizeof(tn_tensor *));
        f->in = c->in_more;
    }
    TNI_EACH_LIST(i, l, gen, f->args) {
        const tn_param *p = &gen->param[i];
        /* Members may be NULL only where the schema says so. */
        for (int64_t k = 0; k < l.n; k++) {
            tn_tensor *t = l.at[k];
            if (!t && !(p->flags & TN_P_HOLES))
                return tn_fail(f, TN_INVALID, "argument '%s' has NULL at position %lld", p->name,
                               (long long)k);
            if (t) *any |= t->flags | (t->owner->context != f->block->context ? 1u << 31 : 0);
            f->in[f->nin++] = t;
        }
    }
    return true;
}

/* An argument is a freed tensor: the error. Returns false. */
static TNI_NOINLINE bool door_freed(tn_frame *f, const char *name, const tn_tensor *t) {
    char text[TNI_ERROR_TEXT / 2];
    return tn_fail(f, TN_INVALID, "argument '%s' of %s %s", name, f->row->name,
                   tni_freed_text(text, sizeof text, t));
}

/* One of the inputs is freed: which one. */
static TNI_NOINLINE bool door_freed_input(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    char name[256];
    tn_tensors l;
    for (int i = 0; i < gen->nfixed; i++)
        if (f->in[i] && tni_is_freed(f->in[i]))
            return door_freed(f, tn_gen_tensor(gen, i)->name, f->in[i]);
    TNI_EACH_LIST(i, l, gen, f->args) {
        for (int64_t k = 0; k < l.n; k++) {
            if (!l.at[k] || !tni_is_freed(l.at[k])) continue;
            snprintf(name, sizeof name, "%s[%lld]", gen->param[i].name, (long long)k);
            return door_freed(f, name, l.at[k]);
        }
    }
    return false; /* not reached: one of them has the flag */
}

/* An argument is sparse: which one, and its layout. Returns false. */
static TNI_NOINLINE bool door_sparse(tn_frame *f, const tn_tensor *t, const char *name) {
    const tni_extra *e = tni_extra_there(t);
    return tn_fail(f, TN_UNSUPPORTED, "%s has layout %s, of which %s is not computed; see to_dense",
                   name, tni_layout_text(e ? e->layout : 0), f->row->name);
}
static bool door_sparse_input(tn_frame *f) {
    char name[64];
    int i = 0;
    while (i < f->nin - 1 && !(f->in[i] && f->in[i]->flags & TNI_SPARSE)) i++;
    if (i < f->row->gen->nfixed)
        snprintf(name, sizeof name, "argument '%s'", tn_gen_tensor(f->row->gen, i)->name);
    else
        snprintf(name, sizeof name, "tensor %d of a list", i - f->row->gen->nfixed);
    return door_sparse(f, f->in[i], name);
}

/* An argument is one sample of a batch. A composed row meets it in what it calls. */
static bool door_batched(tn_frame *f) {
    if (!tni_calls(f->block)->batch)
        return tn_fail(f, TN_INVALID, "an argument is of a batch that has ended in this thread");
    if (f->row->compose)
        f->meta = true; /* no data to look at */
    else
        f->elsewhere = TNI_IN_BATCH;
    return true;
}

/* Rare properties of inputs: another context, a forgotten need, meta, a view whose base
 * was written. */
static TNI_NOINLINE bool door_odd(tni_call *c, unsigned any) {
    tn_frame *f = &c->f;
    if (any & TNI_FREED) return door_freed_input(f);
    if (any & 1u << 31) return tn_fail(f, TN_INVALID, "an argument belongs to another context");
    if (any & TNI_SPARSE) return door_sparse_input(f);
    for (int i = 0; i < f->nin; i++) {
        tn_tensor *t = f->in[i];
        if (!t) continue;
        /* A ghost has no data. Composed rows and rows of shapes alone may take it. */
        if (t->flags & TNI_GHOST && t->numel && !f->row->compose &&
            !(f->row->forms & TN_SHAPE_ONLY))
            return tn_fail(
                f, TN_INTERNAL,
                "the operator reads the data of input %d, which its row does not list in .needs",
                i);
        /* The base was written since: the view's history is made anew before it is read. */
        if (t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES &&
            t->edge_version != tni_load_relaxed(tni_version_of(t)) &&
            !tni_view_refresh(f->block, t))
            return false;
    }
    if (any & TNI_BATCHED) return door_batched(f);
    return !(any & (TNI_META | TNI_DEVICE)) || tni_device_enter(f);
}

TN_PRIV const char *tni_unwritable(const tn_tensor *t) {
    if (!(t->flags & TNI_REQUIRES)) /* a view that was made before its base became a leaf */
        return t->flags & TNI_VIEW && t->base->flags & TNI_LEAF
                   ? "a view of a leaf that requires grad"
                   : NULL;
    if (t->flags & TNI_LEAF) return "a leaf that requires grad";
    if (t->flags & TNI_VIEW && /* a base without history: a view in between is the leaf */
        (t->base->flags & TNI_LEAF || !(t->base->flags & TNI_REQUIRES)))
        return "a view of a leaf that requires grad";
    return NULL;
}

static bool door_may_write(tn_frame *f, const tn_tensor *t, const char *what) {
    const char *leaf;
    /* Three reasons against a write: read-only memory, inference mode, a leaf of the graph. */
    if (t->flags & TNI_READ_ONLY) return tn_fail(f, TN_INVALID, "%s is read-only memory", what);
    if (t->flags & TNI_INFERENCE && !tni_state(f->block)->inference)
        return tn_fail(
            f, TN_AUTOGRAD,
            "%s was made in inference mode and must not be written outside it; clone it first",
            what);
    if (tni_state(f->block)->no_grad || !(leaf = tni_unwritable(t))) return true;
    return tn_fail(f, TN_AUTOGRAD, "%s is %s and must not be written in place", what, leaf);
}

/* Whether any out= is given. The pointers stand side by side, at most four. */
TNI_INLINE bool door_out_given(const tn_gen *gen, const void *args) {
    const char *at;
    tn_tensor *t;
    if (gen->out_offset == UINT16_MAX) return false;
    at = (const char *)args + gen->out_offset;
    memcpy(&t, at, sizeof t);
    for (int k = 1; !t && k < gen->nresults && k < 4; k++)
        memcpy(&t, at + (size_t)k * sizeof t, sizeof t);
    return t != NULL;
}

/* Outputs that are given: self of an in-place call, or out=. */
static TNI_NOINLINE bool door_given(tni_call *c, unsigned any) {
    tn_frame *f = &c->f;
    const tn_gen *gen = f->row->gen;
    /* The in-place form writes self: out[0] will be in[0]. */
    if (f->inplace) {
        if (door_out_given(gen, f->args))
            return tn_fail(f, TN_INVALID, "the in-place form does not take .out");
        if (!(f->row->forms & TN_INPLACE))
            return tn_fail(f, TN_INVALID, "the operator has no in-place form");
        /* A number has no memory to write. */
        if (!f->nin || !f->in[0] || f->in[0]->flags & TNI_STACK)
            return tn_fail(f, TN_TYPE, "%s must be a tensor in the in-place form",
                           tni_written_name(f));
        f->given[0] = f->in[0];
        f->ngiven = 1;
        return door_may_write(f, f->in[0], tn_gen_tensor(gen, 0)->name);
    }
    if (TNI_NEVER(gen->nresults > 4)) return true; /* tni_schema_limits: out= takes 1 to 4 */
    /* out=: all or none, writable, of this context, outside of any graph. */
    memcpy(f->given, (const char *)f->args + gen->out_offset, gen->nresults * sizeof(tn_tensor *));
    for (int k = 0; k < gen->nresults; k++) {
        tn_tensor *t = f->given[k];
        if (!t)
            return tn_fail(f, TN_INVALID, "out: expected all %d results, or none", gen->nresults);
        if (tni_is_freed(t)) return door_freed(f, "out", t);
        /* The same conditions as for an argument that is written. */
        if (t->owner->context != f->block->context)
            return tn_fail(f, TN_INVALID, "out belongs to another context");
        if (t->flags & TNI_SPARSE) return door_sparse(f, t, "out");
        if (!tni_state(f->block)->no_grad && (t->flags & TNI_REQUIRES || any & TNI_REQUIRES))
            return tn_fail(f, TN_AUTOGRAD,
                           "out= does not support gradients, but an argument requires grad");
        if (!door_may_write(f, t, "out")) return false;
    }
    f->ngiven = (uint8_t)gen->nresults;
    return true;
}

/* Arguments that the schema marks as written, less those that check found to stay as they are: the
 * running statistics of a normalisation in evaluation may lie in read-only memory. */
static TNI_NOINLINE bool door_mutated(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    /* slot walks over members of lists, which follow the single tensors. */
    int slot = gen->nfixed;
    tn_tensors l;
    for (int i = 0; i < gen->nfixed; i++)
        if (tn_gen_tensor(gen, i)->flags & TN_P_MUTATED && f->in[i] && !(f->unwritten >> i & 1) &&
            !door_may_write(f, f->in[i], tn_gen_tensor(gen, i)->name))
            return false;
    /* Members of lists that the schema marks as written. */
    if (!(gen->props & TN_PROP_LISTS)) return true;
    TNI_EACH_LIST(i, l, gen, f->args) {
        for (int64_t k = 0; k < l.n; k++, slot++)
            if (gen->param[i].flags & TN_P_MUTATED && l.at[k] &&
                !door_may_write(f, l.at[k], gen->param[i].name))
                return false;
    }
    return true;
}

/* The generator of the call: given, or the context's default, made at its first use. */
static TNI_NOINLINE bool door_generator(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    for (int i = 0; i < gen->nparam; i++)
        if (gen->param[i].type == TN_T_GENERATOR)
            memcpy(&f->generator, (const char *)f->args + gen->param[i].offset,
                   sizeof f->generator);
    if (!f->generator) f->generator = tni_generator_default(f->block);
    if (TNI_UNLIKELY(tni_calls(f->block)->batch != NULL) && !f->row->compose && !f->meta)
        f->elsewhere = TNI_IN_BATCH;
    return f->generator != NULL;
}

/* The slow check of p's type, which words the error; true if the quick test was only cautious. */
static TNI_NOINLINE bool door_refuse(tn_frame *f, const tn_param *p) {
    char why[TNI_WHY];
    return tni_type_of(p)->check(p, (const char *)f->args + p->offset, why) ||
           tn_fail(f, TN_INVALID, "%s", why);
}

/* Lists of numbers, and what has values that are none. The rules are those of the types' checks,
 * which an indirect call would make slower. */
static TNI_NOINLINE bool door_plain(tn_frame *f) {
    const unsigned lists = TN_TYPES_BEHIND & TN_TYPES_LIST, codes = TN_TYPES_CODE;
    const tn_param *end = f->row->gen->param + f->row->gen->nparam;
    for (const tn_param *p = f->row->gen->param; p < end; p++) {
        /* By the type's traits: a list, a code of an enum or dtype, a value that may be
         * none, a number. */
        const unsigned bit = 1u << p->type;
        const char *at = (const char *)f->args + p->offset;
        bool said = true;
        if (bit & lists)
            said = tni_list_is_said(p, at);
        else if (bit & codes)
            said = tni_code_is_said(p, at);
        else if (p->flags & TN_P_MAYBE)
            said = tni_maybe_is_said(at);
        else if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE))
            said = tni_number_is_said(p, at);
        if (TNI_UNLIKELY(!said) && !door_refuse(f, p)) return false;
    }
    return true;
}

/* rare: constant, false where door_is_rare says so: what then cannot be is not looked at. */
TNI_INLINE bool door_enter(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    const tn_gen *gen = row->gen;
    /* any: the flags of all tensors, bit 31 for one of another context; so rare cases
     * cost one test. */
    unsigned any = 0;
    int numbers = 0;
    if (TNI_UNLIKELY(b->failed)) return false;
    /* Single tensors into slots, in schema order. */
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_param *p = tn_gen_tensor(gen, i);
        tn_tensor *t;
        memcpy(&t, (const char *)f->args + p->offset, sizeof t);
        /* NULL: a number, an absent option, or an error. */
        if (TNI_UNLIKELY(!t)) {
            if (!door_missing(c, p, i, &numbers)) return false;
            continue;
        }
        /* Other threads of the same context may own it. */
        if (TNI_UNLIKELY(t->owner != b) && t->owner->context != b->context) any |= 1u << 31;
        any |= t->flags;
        f->in_[i] = t;
    }
    f->nin = gen->nfixed;
    if (rare && gen->props & TN_PROP_LISTS && !door_lists(c, &any)) return false;
    if (gen->props & (TN_PROP_INTS | TN_PROP_WORDS) && !door_plain(f)) return false;
    if (TNI_UNLIKELY(any & (1u << 31 | TNI_META | TNI_DEVICE | TNI_GHOST | TNI_VIEW))) {
        if (!door_odd(c, any)) return false;
        for (int i = 0; i < f->nin; i++) /* a refreshed view may require grad now */
            if (f->in[i]) any |= f->in[i]->flags;
    }
    /* Recorded: something requires grad, the mode records, and the row is no constant for
     * gradients. What a composed row calls records itself. */
    f->recording = (any & TNI_REQUIRES) != 0 && !tni_state(b)->no_grad &&
                   row->grad != tn_grad_zero && !(rare && row->compose);
    if (!rare) return true;
    if (f->inplace || TNI_UNLIKELY(door_out_given(gen, f->args)))
        if (!door_given(c, any)) return false;
    if (gen->props & TN_PROP_MUTATED && row->compose && !door_mutated(f)) return false;
    return !(gen->props & TN_PROP_GENERATOR) || door_generator(f);
}

/* --- prepare: all that can fail --------------------------------------------------------------- */

/* Of inputs but number `own` only the first `may` are t, and no other shares memory with it. */
static bool door_apart(tn_frame *f, const tn_tensor *t, const char *what, int own, int may) {
    if (tni_overlaps_itself(t))
        return tn_fail(f, TN_INVALID,
                       "unsupported operation: more than one element of %s refers to a single "
                       "memory location; clone it first",
                       what);
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *in = f->in[i];
        if (!in || i == own || (in == t && i < may) || in->storage != t->storage) continue;
        /* Exactly the same elements: allowed to the first `may` inputs. */
        if (in == t || tni_same_place(t, in)) {
            if (i < may || !t->numel) continue;
            return tn_fail(
                f, TN_INVALID,
                "%s is also input %d, which the operator reads while writing; clone it first", what,
                i);
        }
        /* One element of t is written with its own value there, whenever it is read. */
        if (f->inplace && f->row->forms & TN_ALIAS && i < may && in->numel == 1 &&
            in->dtype == t->dtype)
            continue;
        /* Any other sharing of bytes is refused: an element might be read after it was written. */
        if (tni_overlap(t, in))
            return tn_fail(f, TN_INVALID, "%s partly overlaps input %d; clone one of them first",
                           what, i);
    }
    return true;
}

/* Written tensors may not overlap themselves, each other, or inputs they may not be. */
static TNI_NOINLINE bool door_overlap(tni_call *c) {
    tn_frame *f = &c->f;
    const tn_gen *gen = f->row->gen;
    const int may = tni_may_alias(f);
    if (gen->props & TN_PROP_MUTATED && !door_mutated(f)) return false;
    for (int k = 0; k < f->ngiven; k++) {
        if (f->given[k]->device != f->device)
            return tn_fail(f, TN_INVALID,
                           "%s is on a different device: %s, but the result is on %s",
                           tni_written_name(f), tn_device_name(f->given[k]->device),
                           tn_device_name(f->device));
        /* What was made apart is written when all has been read. */
        if (!door_apart(f, f->given[k], tni_written_name(f), -1,
                        c->redirected >> k & 1 && tni_takes_inputs(f) ? f->nin : may) ||
            !tni_given_apart(f, k))
            return false;
    }
    /* Arguments that the schema marks as written, against all other inputs. */
    for (int i = 0; gen->props & TN_PROP_MUTATED && i < gen->nfixed; i++) {
        const tn_param *p = tn_gen_tensor(gen, i);
        if (p->flags & TN_P_MUTATED && f->in[i] && !(f->unwritten >> i & 1) &&
            !door_apart(f, f->in[i], p->name, i, 0))
            return false;
    }
    return true;
}

/* look has counted: the size that check left unknown is filled in, before memory is taken. */
static TNI_NOINLINE bool door_counted(tni_call *c) {
    tn_tensor *t = c->f.out[c->unknown_out];
    int64_t numel = 1;
    t->size[c->unknown_dim] = c->f.count;
    for (int i = t->ndim - 1; i >= 0; i--) {
        t->stride[i] = numel;
        if (!tni_mul(numel, t->size[i] ? t->size[i] : 1, &numel))
            return tn_fail(&c->f, TN_MEMORY, "the result is too large");
    }
    for (int i = 0; i < t->ndim; i++)
        if (t->size[i] == 0) numel = 0;
    t->numel = numel;
    if (c->unknown_columns) {
        const int last = t->ndim - 1;
        t->stride[last - 1] = 1;
        t->stride[last] = t->size[last - 1];
        /* The header was made row-major; its flag goes where the other order differs from that. */
        if (t->size[last - 1] != 1 && t->size[last] != 1 && numel)
            t->flags &= (uint16_t)~TNI_CONTIGUOUS;
    }
    return true;
}

/* On meta scratch memory only counts in a plan. */
TNI_INLINE bool door_scratch(tn_frame *f) {
    const int64_t bytes = (int64_t)f->scratch_bytes;
    if (TNI_UNLIKELY(f->meta)) return tni_plan_scratch(f->block, TN_META, bytes);
    f->scratch = tni_need(f->block, bytes);
    return f->scratch != NULL;
}

/* The node keeps results as they are published. */
static tni_node *door_node_of_images(tni_call *c) {
    tn_frame *f = &c->f;
    tni_node *n = NULL;
    for (int k = 0; k < 2; k++) { /* there and back */
        for (int i = 0; c->redirected >> i; i++) {
            tn_tensor *t = f->out[i];
            if (!(c->redirected >> i & 1)) continue;
            f->out[i] = f->given[i];
            f->given[i] = t;
        }
        if (k == 0) n = tni_node_new(f);
    }
    return n;
}

/* A gradient that reads an input which this call overwrites reads a copy of it. */
TNI_INLINE bool door_prepare(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    /* In this order: overlaps, reading the data (look), sizes, memory, the node. Later steps need
     * the earlier ones. */
    if (rare && (f->ngiven || row->gen->props & TN_PROP_MUTATED) && !door_overlap(c)) return false;
    if (rare && TNI_UNLIKELY(tni_state(b)->deferred) && !tni_record_defers(f)) return false;
    if (rare && row->look && !f->meta && !tni_look(f)) return false;
    if (TNI_UNLIKELY(c->unknown_out >= 0) && !door_counted(c)) return false;
    /* Outputs that are no views and not given get their memory. */
    for (int k = 0; k < f->nout; k++) {
        tn_tensor *t = f->out[k];
        if (t && !t->storage && !tni_set_storage(b, t)) return false;
    }
    if (f->scratch_bytes && !door_scratch(f)) return false;
    /* The node saves inputs as they are before run; a view that is written also gives
     * its base a node. */
    if (tni_is_recorded(f)) {
        f->node = rare && c->redirected && !f->ngiven ? door_node_of_images(c) : tni_node_new(f);
        if (!f->node) return false;
        if (rare && f->ngiven && f->given[0]->flags & TNI_VIEW &&
            !(c->rebase = tni_view_rebase(f, f->given[0])))
            return false;
    }
    return !rare || !(tni_load_relaxed(&b->hooks) & TNI_HOOK_RECORD) || f->meta ||
           tni_record_call(c);
}

/* A floating result of a row without a gradient cannot join a graph. */
static bool door_may_record(tn_frame *f) {
    if (f->row->grad) return true;
    for (int k = 0; k < f->row->gen->nresults && k < f->nout; k++)
        if (f->out[k] && tni_dtype(f->out[k]->dtype)->category >= TNI_CAT_FLOAT)
            return tn_fail(f, TN_AUTOGRAD,
                           TNI_NO_GRADIENT ", but an argument requires grad; detach it or use "
                                           "no-grad mode");
    f->recording = false;
    return true;
}

/* Behind check, where a call is recorded, or not on the CPU. */
static TNI_NOINLINE bool door_look_up(tn_frame *f) {
    if (f->elsewhere == TNI_IN_BATCH) {
        f->elsewhere = TNI_BATCH_CHECKED;
        return false;
    }
    if (tni_elsewhere(f) && !tni_device_find(f)) return false;
    return !f->recording || door_may_record(f);
}
TNI_INLINE bool door_has_kernels(tn_frame *f, const tn_row *row) {
    return TNI_LIKELY(!f->elsewhere && row->grad) || door_look_up(f);
}

/* --- publish: cannot fail --------------------------------------------------------------------- */

/* What the call wrote into tensors that were there before it. */
static TNI_NOINLINE void door_written(tni_call *c) {
    tn_frame *f = &c->f;
    /* A result of another layout or dtype was made apart and is copied into the given tensor. */
    for (int k = 0; TNI_UNLIKELY(c->redirected >> k); k++)
        if (c->redirected >> k & 1) {
            if (!f->meta && !(tni_elsewhere(f) && tni_state(f->block)->deferred))
                tni_copy_elements(f->block, f->given[k], f->out[k]);
            tni_drop(f->block, f->out[k]);
            f->out[k] = f->given[k];
        }
    tni_bump_written(f);
}

TNI_INLINE void door_publish(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    const tn_gen *gen = row->gen;
    if (rare && (f->ngiven || gen->props & (TN_PROP_MUTATED | TN_PROP_IMAGES))) door_written(c);
    if (tni_is_recorded(f)) {
        /* Each floating result gets the node as its history; saves do not. */
        int results = !rare ? 1 : gen->props & TN_PROP_RETURNS_LIST ? f->nout : gen->nresults;
        for (int k = 0; k < results && k < f->nout; k++)
            if (f->out[k] && tni_dtype(f->out[k]->dtype)->category >= TNI_CAT_FLOAT)
                tni_node_hang(b, f->node, f->out[k], k);
        if (rare && c->rebase) tni_node_hang(b, c->rebase, f->given[0]->base, 0);
        /* Nothing floating came out, so nobody holds the node. */
        if (f->node->refs == 0) tni_node_abandon(b, f->node);
    }
    for (int k = gen->nresults; k < f->nout && !(gen->props & TN_PROP_RETURNS_LIST); k++)
        if (f->out[k]) tni_drop(b, f->out[k]); /* saves live in the node only */
}

/* --- the call --------------------------------------------------------------------------------- */

/* After a failure: what was made goes, nothing visible has changed. */
static TNI_NOINLINE void door_undo(tni_call *c) {
    tn_frame *f = &c->f;
    if (c->rebase)
        tni_node_abandon(f->block, c->rebase); /* and with it the node that its edge counts */
    else if (f->node)
        tni_node_abandon(f->block, f->node);
    for (int k = 0; k < f->nout; k++)
        if (f->out[k] && (k >= f->ngiven || f->out[k] != f->given[k]))
            tni_drop(f->block, f->out[k]);
    for (int k = f->ngiven; k < f->nout; k++)
        if (c->redirected >> k & 1) tni_drop(f->block, f->given[k]);
    if (c->holder) tni_drop(f->block, c->holder);
}

/* The row has no kernel on the device: the call on the CPU, on copies. They are calls of rows, so
 * gradients follow. */
static TNI_NOINLINE bool door_fall_back(tn_frame *f) {
    union {
        int64_t align;
        char bytes[TNI_ARGS_BYTES];
    } args;
    tni_block *b = f->block;
    tn_tensor *result[TNI_RESULTS] = {NULL};
    const int64_t mark = tni_begin(b);
    bool ok = mark >= 0;
    f->out = f->out_;
    f->nout = 0;
    f->recording = false; /* what it calls records itself */
    ok = ok && tni_device_take_copies(f, args.bytes, sizeof args) &&
         tn_call(f->row, TN_PLAIN, f->work.file, f->work.line, args.bytes, result) &&
         tni_device_give_copies(f, result);
    for (int k = 0; ok && k < f->nout; k++) tni_move(b, f->out[k], mark);
    tni_end(b, mark);
    return ok;
}

/* The call has failed, or is done in another way: for a batch, or on the CPU. */
static TNI_NOINLINE bool door_otherwise(tni_call *c) {
    tn_frame *f = &c->f;
    if (f->elsewhere == TNI_BATCH_CHECKED && tni_calls(f->block)->batch->call(c)) return true;
    door_undo(c);
    return tni_elsewhere(f) == TNI_FALLS_BACK && door_fall_back(f);
}

TNI_INLINE bool door_primitive(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    f->out = f->out_;
    f->nout = 0;
    /* check announces; the rest of what can fail follows in prepare. */
    if (TNI_UNLIKELY(!row->check(f)) ||
        TNI_UNLIKELY(tni_frame_has(&f->recording) && !door_has_kernels(f, row)) ||
        TNI_UNLIKELY(!door_prepare(c, row, b, rare))) {
        return door_otherwise(c);
    }
    if (TNI_UNLIKELY(!(TNI_LIKELY(!f->meta) ? tni_run(f, row, b) : tni_device_plan(f)))) {
        /* Stopped, or refused by its verdict: all as before. */
        if (!f->meta && tni_load_relaxed(&b->hooks) & TNI_HOOK_RECORD) tni_record_undo(f);
        door_undo(c); /* keeps an error already set */
        return tn_fail(f, TN_CANCELLED, "the call was cancelled");
    }
    door_publish(c, row, b, rare);
    return true;
}

static TNI_NOINLINE void door_profile(tni_call *c, double begin) {
    char text[256];
    tn_frame *f = &c->f;
    tni_profile_add(f->block, f->row->name, f->block->place_file, f->block->place_line,
                    tni_call_text(text, sizeof text, f->row, f->args), begin,
                    tni_now(f->block->context));
}

static TNI_NOINLINE void door_results(tni_call *c, void *results, bool ok) {
    tn_frame *f = &c->f;
    const tn_gen *gen = f->row->gen;
    /* A list, or a pointer for each result; all NULL after a failure. */
    if (gen->props & TN_PROP_RETURNS_LIST) {
        tn_list l = {NULL, 0, NULL};
        if (ok) {
            l.at = f->out;
            l.n = f->nout;
            l.holder = c->holder;
        }
        memcpy(results, &l, sizeof l);
    } else {
        for (int k = 0; k < gen->nresults; k++)
            ((tn_tensor **)results)[k] = ok && k < f->nout ? f->out[k] : NULL;
    }
}

/* Whether the call has more to it than tensors, numbers and one new result. */
TNI_INLINE bool door_is_rare(const tni_block *b, const tn_row *row, unsigned how,
                             const void *args) {
    const tn_gen *gen = row->gen;
    const unsigned props = TN_PROP_LISTS | TN_PROP_GENERATOR | TN_PROP_MUTATED |
                           TN_PROP_RETURNS_LIST | TN_PROP_VERDICT | TN_PROP_IMAGES;
    return !b || how != TN_PLAIN || gen->props & props || gen->nresults != 1 || gen->nsaves ||
           row->compose || row->look || tni_load_relaxed(&b->hooks) || door_out_given(gen, args);
}

static void door_begin(tni_call *c, tni_block *b, const tn_row *row, unsigned how, const char *file,
                       int line, const void *args) {
    tni_frame_begin(&c->f, b, row, how, file, line, args);
    c->in_more = NULL;
    c->holder = NULL;
    c->redirected = 0;
    c->unknown_out = -1;
    c->unknown_columns = false;
    c->rebase = NULL;
}

/* A call of which nothing is rare: the same steps. */
static TNI_NOINLINE bool door_usual(tni_block *b, const tn_row *row, const char *file, int line,
                                    const void *args, void *results) {
    tni_call c;
    tn_frame *f = &c.f;
    /* pending: an error was there before, so this call adds nothing to its text. */
    bool ok, pending;
    door_begin(&c, b, row, TN_PLAIN, file, line, args);
    tni_frame_enter(f, b);
    pending = b->failed != 0;
    ok = door_enter(&c, row, b, false) && door_primitive(&c, row, b, false);
    if (TNI_UNLIKELY(f->scratch != NULL)) tni_put(b, b, f->scratch, (int64_t)f->scratch_bytes);
    if (TNI_UNLIKELY(!ok) && !pending) tni_call_error(f);
    b->work = f->work.caller;
    *(tn_tensor **)results = ok ? f->out[0] : NULL;
    return ok || (tni_leave(b, false), false);
}

static TNI_NOINLINE bool door_rare(tni_block *b, const tn_row *row, unsigned how, const char *file,
                                   int line, const void *args, void *results) {
    tni_call c;
    tn_frame *f = &c.f;
    double begin = 0;
    bool ok, pending;
    if (TNI_UNLIKELY(b && tni_load_relaxed(&b->hooks) & TNI_HOOK_CAST) &&
        tni_calls(b)->autocast(b, row, how, door_out_given(row->gen, args), file, line, args,
                               results, &ok))
        return ok;
    door_begin(&c, b, row, how, file, line, args);
    if (TNI_UNLIKELY(!b)) {
        door_results(&c, results, false);
        return false;
    }
    /* Before anything of the call is there, which a handler might leave by a jump. */
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_WARNING)) tni_warning_tell(b);
    tni_frame_enter(f, b);
    pending = b->failed != 0; /* an error that is not this call's */
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE)) begin = tni_now(b->context);
    /* A composed row has its own way, after the same entry. */
    ok = door_enter(&c, row, b, true);
    if (ok)
        ok = row->compose ? tni_compose(&c) : door_primitive(&c, row, b, true);
    else
        f->nout = 0;
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_SAVED) && ok && f->recording && f->node)
        ok = tni_calls(b)->pack(&c);
    if (TNI_UNLIKELY(f->scratch != NULL)) tni_put(b, b, f->scratch, (int64_t)f->scratch_bytes);
    if (TNI_UNLIKELY(c.in_more != NULL)) tni_put(b, b, c.in_more, c.in_bytes);
    if (TNI_UNLIKELY(!ok) && !pending) tni_call_error(f);
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE)) door_profile(&c, begin);
    b->work = f->work.caller;
    if (TNI_LIKELY(ok && row->gen->nresults == 1 && !(row->gen->props & TN_PROP_RETURNS_LIST)))
        *(tn_tensor **)results = f->out[0];
    else
        door_results(&c, results, ok);
    return ok || (tni_leave(b, false), false);
}

TN_PRIV bool tni_call_long(const tn_row *row, unsigned how, const char *file, int line,
                           const void *args, void *results) {
    tni_block *b = tni_here();
    return TNI_UNLIKELY(door_is_rare(b, row, how, args))
               ? door_rare(b, row, how, file, line, args, results)
               : door_usual(b, row, file, line, args, results);
}

TN_API bool tn_call(const tn_row *row, unsigned how, const char *file, int line, const void *args,
                    void *results) {
    if (row->quick) return row->quick(row, how, file, line, args, results);
    return tni_call_long(row, how, file, line, args, results);
}
