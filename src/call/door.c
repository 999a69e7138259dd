/* door.c - the one way into every operator: enter, check, look, prepare, run, publish.
 *
 * Everything that can fail happens before `run`; publish cannot fail. The door branches on
 * properties of the row and the call (composed? lists? in place? recording?), never on an
 * operator's name. */
#include "call.h"

enum {
    DOOR_MOST = 1 << 24, /* tensors that a call is given */
    DOOR_FEW = 4096      /* so many random numbers are drawn to the end */
};

/* --- enter: arguments become slots ------------------------------------------------------------ */

static bool door_argument_error(tn_frame *f, const tn_param *p) {
    return tn_fail(f, TN_INVALID, "argument '%s' is NULL", p->name);
}

TN_PRIV tn_tensor *tni_number_wrap(tni_block *b, tni_number *n, tn_scalar s) {
    static const uint8_t dtypes[] = {TN_NO_DTYPE, TN_NO_DTYPE, TN_BOOL, TN_I64, TN_F64, TN_C128};
    tn_tensor *t = &n->header;
    memset(t, 0, offsetof(tn_tensor, dims));
    memset(&n->storage, 0, sizeof n->storage);
    t->refs = n->storage.refs = 1;
    t->dtype = dtypes[s.kind];
    t->capacity = 4;
    t->device = TN_CPU;
    t->flags = TNI_NUMBER | TNI_STACK | TNI_CONTIGUOUS;
    t->owner = n->storage.owner = b;
    t->numel = 1;
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
    int64_t total = f->nin;
    for (int i = 0; i < gen->nparam; i++) {
        tn_tensors l;
        if (gen->param[i].type != TN_T_TENSORS) continue;
        memcpy(&l, (const char *)f->args + gen->param[i].offset, sizeof l);
        if (l.n < 0 || (l.n > 0 && !l.at)) return door_argument_error(f, &gen->param[i]);
        if (!tni_add(total, l.n, &total) || total > DOOR_MOST)
            return tn_fail(f, TN_INVALID, "'%s' has %lld tensors, at most %d fit",
                           gen->param[i].name, (long long)l.n, (int)DOOR_MOST);
    }
    if (total > TNI_IN) {
        c->in_bytes = total * (int64_t)sizeof(tn_tensor *);
        c->in_more = (tn_tensor **)tni_need(f->block, c->in_bytes);
        if (!c->in_more) return false;
        memcpy(c->in_more, f->in_, (size_t)f->nin * sizeof(tn_tensor *));
        f->in = c->in_more;
    }
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        tn_tensors l;
        if (p->type != TN_T_TENSORS) continue;
        memcpy(&l, (const char *)f->args + p->offset, sizeof l);
        for (int64_t k = 0; k < l.n; k++) {
            tn_tensor *t = l.at[k];
            if (!t && !(p->flags & TN_P_HOLES))
                return tn_fail(f, TN_INVALID, "'%s' has NULL at position %lld", p->name,
                               (long long)k);
            if (t) *any |= t->flags | (t->owner->context != f->block->context ? 1u << 31 : 0);
            f->in[f->nin++] = t;
        }
    }
    return true;
}

/* Rare properties of inputs: another context, a forgotten need, meta, a view whose base was
 * written. */
static TNI_NOINLINE bool door_odd(tni_call *c, unsigned any) {
    tn_frame *f = &c->f;
    if (any & 1u << 31) return tn_fail(f, TN_INVALID, "an argument belongs to another context");
    for (int i = 0; i < f->nin; i++) {
        tn_tensor *t = f->in[i];
        if (!t) continue;
        if (t->flags & TNI_GHOST && t->numel && !f->row->compose &&
            !(f->row->forms & TN_SHAPE_ONLY))
            return tn_fail(f, TN_INTERNAL,
                           "reads the data of input %d, which its row does not name in .needs", i);
        if (t->flags & TNI_META) f->meta = true, f->device = TN_META;
        if (t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES &&
            t->edge_version != tni_load_relaxed(&t->storage->version) &&
            !tni_view_refresh(f->block, t))
            return false;
    }
    if (f->meta)
        for (int i = 0; i < f->nin; i++)
            if (f->in[i] && !(f->in[i]->flags & (TNI_META | TNI_NUMBER)) && f->in[i]->ndim)
                return tn_fail(f, TN_INVALID, "arguments are on different devices, meta and %s",
                               "cpu");
    return true;
}

TN_PRIV const char *tni_unwritable(const tn_tensor *t) {
    if (!(t->flags & TNI_REQUIRES)) return NULL;
    if (t->flags & TNI_LEAF) return "a leaf that requires grad";
    if (t->flags & TNI_VIEW && /* a base without history: a view in between is the leaf */
        (t->base->flags & TNI_LEAF || !(t->base->flags & TNI_REQUIRES)))
        return "a view of a leaf that requires grad";
    return NULL;
}

static bool door_may_write(tn_frame *f, const tn_tensor *t, const char *what) {
    const char *leaf;
    if (t->flags & TNI_READ_ONLY) return tn_fail(f, TN_INVALID, "%s is read-only memory", what);
    if (t->flags & TNI_INFERENCE && !f->block->inference)
        return tn_fail(f, TN_AUTOGRAD,
                       "%s was made in inference mode and is written outside of it; clone it first",
                       what);
    if (f->block->no_grad || !(leaf = tni_unwritable(t))) return true;
    return tn_fail(f, TN_AUTOGRAD, "%s is %s and is written in place", what, leaf);
}

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
    if (f->inplace) {
        if (door_out_given(gen, f->args))
            return tn_fail(f, TN_INVALID, "the in-place form has no .out");
        if (!(f->row->forms & TN_INPLACE))
            return tn_fail(f, TN_INVALID, "there is no in-place form");
        if (!f->nin || !f->in[0] || f->in[0]->flags & TNI_STACK)
            return tn_fail(f, TN_TYPE, "%s of the in-place form is not a tensor",
                           tni_written_name(f));
        f->given[0] = f->in[0];
        f->ngiven = 1;
        return door_may_write(f, f->in[0], gen->param[gen->fixed[0]].name);
    }
    if (TNI_NEVER(gen->nresults > 4)) return true; /* tni_schema_limits: out= takes 1 to 4 */
    memcpy(f->given, (const char *)f->args + gen->out_offset, gen->nresults * sizeof(tn_tensor *));
    for (int k = 0; k < gen->nresults; k++) {
        tn_tensor *t = f->given[k];
        if (!t)
            return tn_fail(f, TN_INVALID, "out: all %d results must be given, or none",
                           gen->nresults);
        if (t->owner->context != f->block->context)
            return tn_fail(f, TN_INVALID, "out belongs to another context");
        if (!f->block->no_grad && (t->flags & TNI_REQUIRES || any & TNI_REQUIRES))
            return tn_fail(f, TN_AUTOGRAD,
                           "out= does not support gradients, but an argument requires grad");
        if (!door_may_write(f, t, "out")) return false;
    }
    f->ngiven = (uint8_t)gen->nresults;
    return true;
}

static TNI_NOINLINE bool door_mutated(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    int slot = gen->nfixed;
    for (int i = 0; i < gen->nfixed; i++)
        if (gen->param[gen->fixed[i]].flags & TN_P_MUTATED && f->in[i] &&
            !door_may_write(f, f->in[i], gen->param[gen->fixed[i]].name))
            return false;
    if (!(gen->props & TN_PROP_LISTS)) return true;
    for (int i = 0; i < gen->nparam; i++) {
        tn_tensors l;
        if (gen->param[i].type != TN_T_TENSORS) continue;
        memcpy(&l, (const char *)f->args + gen->param[i].offset, sizeof l);
        for (int64_t k = 0; k < l.n; k++, slot++)
            if (gen->param[i].flags & TN_P_MUTATED && l.at[k] &&
                !door_may_write(f, l.at[k], gen->param[i].name))
                return false;
    }
    return true;
}

static TNI_NOINLINE bool door_generator(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    for (int i = 0; i < gen->nparam; i++)
        if (gen->param[i].type == TN_T_GENERATOR)
            memcpy(&f->generator, (const char *)f->args + gen->param[i].offset,
                   sizeof f->generator);
    if (!f->generator) f->generator = tni_generator_default(f->block);
    return f->generator != NULL;
}

static bool door_list(tn_frame *f, const tn_param *p) {
    tn_ints l;
    if (tni_list_is_said(p, f->args)) return true;
    memcpy(&l, (const char *)f->args + p->offset, sizeof l);
    return tn_fail(
        f, TN_INVALID, "argument '%s' is %s", p->name,
        l.n < 0 ? "absent"
                : "an empty struct; the empty list is TN_EMPTY_DIMS, the absent one TN_NO_DIMS");
}

/* A dtype, a word, a number: one that there is, or absent where the schema allows it. */
static bool door_word(tn_frame *f, const tn_param *p) {
    const char *at = (const char *)f->args + p->offset;
    bool optional = (p->flags & TN_P_OPTIONAL) != 0;
    int32_t word, last = INT32_MAX;
    if (p->flags & TN_P_MAYBE) {
        tn_maybe m;
        memcpy(&m, at, sizeof m);
        if (m.given == TN_GIVEN || m.given == TN_ABSENT) return true;
        return tn_fail(f, TN_INVALID,
                       "argument '%s' is neither given nor absent; write TN_SOME or TN_NO_FLOAT",
                       p->name);
    }
    memcpy(&word, at, sizeof word);
    if (p->type == TN_T_SCALAR) {
        if (word > (optional ? 0 : TN_KIND_NONE) && word <= TN_KIND_COMPLEX) return true;
        return tn_fail(f, TN_INVALID, "argument '%s' is not a number", p->name);
    }
    if (p->type == TN_T_DTYPE) last = TN_DTYPE_COUNT - 1;
    if (p->type == TN_T_ENUM)
        for (last = 0; p->words[last];) last++;
    if ((word > 0 || (optional && word == 0)) && word <= last) return true;
    return tn_fail(f, TN_INVALID, "argument '%s' has no value of number %d", p->name, (int)word);
}

static TNI_NOINLINE bool door_plain(tn_frame *f) {
    const unsigned lists = 1u << TN_T_INTS | 1u << TN_T_FLOATS,
                   words = 1u << TN_T_DTYPE | 1u << TN_T_DEVICE | 1u << TN_T_ENUM;
    const tn_param *end = f->row->gen->param + f->row->gen->nparam;
    for (const tn_param *p = f->row->gen->param; p < end; p++) {
        const unsigned bit = 1u << p->type;
        if (bit & lists) {
            if (!door_list(f, p)) return false;
        } else if (bit & words || p->flags & TN_P_MAYBE ||
                   (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE))) {
            if (!door_word(f, p)) return false;
        }
    }
    return true;
}

/* rare: constant, false where door_is_rare says so: what then cannot be is not looked at. */
TNI_INLINE bool door_enter(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    const tn_gen *gen = row->gen;
    unsigned any = 0;
    int numbers = 0;
    if (TNI_UNLIKELY(b->failed)) return false;
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_param *p = &gen->param[gen->fixed[i]];
        tn_tensor *t;
        memcpy(&t, (const char *)f->args + p->offset, sizeof t);
        if (TNI_UNLIKELY(!t)) {
            if (!door_missing(c, p, i, &numbers)) return false;
            continue;
        }
        if (TNI_UNLIKELY(t->owner != b) && t->owner->context != b->context) any |= 1u << 31;
        any |= t->flags;
        f->in_[i] = t;
    }
    f->nin = gen->nfixed;
    if (rare && gen->props & TN_PROP_LISTS && !door_lists(c, &any)) return false;
    if (gen->props & (TN_PROP_INTS | TN_PROP_WORDS) && !door_plain(f)) return false;
    if (TNI_UNLIKELY(any & (1u << 31 | TNI_META | TNI_GHOST | TNI_VIEW))) {
        if (!door_odd(c, any)) return false;
        for (int i = 0; i < f->nin; i++) /* a refreshed view may require grad now */
            if (f->in[i]) any |= f->in[i]->flags;
    }
    f->recording = (any & TNI_REQUIRES) != 0 && !b->no_grad && row->grad != tn_grad_zero &&
                   !(rare && row->compose);
    if (!rare) return true;
    if (f->inplace || TNI_UNLIKELY(door_out_given(gen, f->args)))
        if (!door_given(c, any)) return false;
    if (gen->props & TN_PROP_MUTATED && !door_mutated(f)) return false;
    return !(gen->props & TN_PROP_GENERATOR) || door_generator(f);
}

/* --- announcing outputs ----------------------------------------------------------------------- */

TNI_INLINE tni_call *door_call(tn_frame *f) { return (tni_call *)(void *)f; }

/* The given tensor of output k: as announced, or written through a temporary. */
static bool door_take_given(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                            const int64_t *stride) {
    tn_tensor *t = f->given[k], *made;
    char has[128], wants[128];
    bool same = t->ndim == ndim, exact;
    for (int i = 0; same && i < ndim; i++) same = t->size[i] == size[i];
    if (!same)
        return tn_fail(f, TN_INVALID, "%s has shape %s, the result has %s", tni_written_name(f),
                       tni_shape_text(has, sizeof has, t->ndim, t->size),
                       tni_shape_text(wants, sizeof wants, ndim, size));
    if (!tni_can_cast((int)dtype, t->dtype))
        return tn_fail(f, TN_TYPE, "a result of dtype %s cannot be written into %s",
                       tni_dtype((int)dtype)->text, tni_dtype(t->dtype)->text);
    exact = f->row->loop != 0 || t->dtype == dtype; /* a loop writes any layout and dtype */
    for (int i = 0; exact && stride && i < ndim; i++)
        exact = size[i] == 1 || t->stride[i] == stride[i];
    if (exact) {
        f->out[k] = t;
        return true;
    }
    made = f->out[k] = tni_header(f->block, (int)dtype, ndim, size, stride);
    if (!made) return false;
    door_call(f)->redirected |= 1u << k;
    return true;
}

/* Output k and those before it are there, if only as NULL: undo looks at them. */
TNI_INLINE void door_reach(tn_frame *f, int k) {
    if (TNI_UNLIKELY(f->nout < k))
        while (f->nout < k) f->out[f->nout++] = NULL;
    if (f->nout == k) f->out[f->nout++] = NULL;
}

TN_API bool tn_announce_strided(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                const int64_t *stride) {
    tn_tensor *t;
    door_reach(f, k);
    if (TNI_UNLIKELY(dtype <= TN_NO_DTYPE || dtype >= TN_DTYPE_COUNT))
        return tn_fail(f, TN_TYPE, "a result of no dtype");
    if (TNI_UNLIKELY(k < f->ngiven)) {
        int64_t row_major[TN_MAX_DIMS], numel;
        if (!tni_numel_of(ndim, size, &numel))
            return tn_fail(f, TN_INVALID, "the result is too large");
        if (!stride && !f->row->loop) tni_row_major(ndim, size, row_major), stride = row_major;
        return door_take_given(f, k, dtype, ndim, size, f->row->loop ? NULL : stride);
    }
    t = f->out[k] = tni_header(f->block, (int)dtype, ndim, size, stride);
    if (TNI_UNLIKELY(!t)) return false;
    if (f->meta) t->flags |= TNI_META, t->device = TN_META;
    return true;
}

TN_API bool tn_announce(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size) {
    tni_call *c = door_call(f);
    for (int i = 0; i < ndim; i++)
        if (TNI_UNLIKELY(size[i] == TN_UNKNOWN)) {
            int64_t none[TN_MAX_DIMS];
            if (f->meta)
                return tn_fail(f, TN_UNSUPPORTED,
                               "the size of its result depends on data, which meta has not");
            if (f->ngiven) return tn_fail(f, TN_UNSUPPORTED, "out= where the size depends on data");
            memcpy(none, size, (size_t)ndim * sizeof *none);
            none[i] = 0;
            c->unknown_out = k;
            c->unknown_dim = i;
            return tn_announce_strided(f, k, dtype, ndim, none, NULL);
        }
    return tn_announce_strided(f, k, dtype, ndim, size, NULL);
}

TN_PRIV bool tni_announce_flat(tn_frame *f, tn_dtype dtype, const tn_tensor *like) {
    if (TNI_UNLIKELY(f->ngiven || f->meta)) {
        tn_tensor *given = f->ngiven ? f->given[0] : NULL;
        if (!given || given->dtype != dtype || !tni_same_shape(given, like))
            return tn_announce(f, 0, dtype, like->ndim, like->size);
        f->nout = 1;
        f->out[0] = given;
        return true;
    }
    f->nout = 1;
    f->out[0] = tni_header_flat(f->block, (int)dtype, like);
    return f->out[0] != NULL;
}

TN_API bool tn_announce_like(tn_frame *f, int k, const tn_tensor *like, tn_dtype dtype) {
    bool keep = !(like->flags & TNI_CONTIGUOUS) && tni_is_dense(like);
    return tn_announce_strided(f, k, dtype, like->ndim, like->size, keep ? like->stride : NULL);
}

TN_API bool tn_announce_view(tn_frame *f, int k, tn_tensor *of, int ndim, const int64_t *size,
                             const int64_t *stride, int64_t offset) {
    door_reach(f, k);
    if (TNI_UNLIKELY(f->ngiven))
        return tn_fail(f, TN_UNSUPPORTED, "a view cannot be written into a given tensor");
    if (TNI_UNLIKELY(of->flags & TNI_STACK)) return tn_fail(f, TN_TYPE, "a number has no view");
    f->out[k] = tni_view_of(f->block, of, ndim, size, stride, offset, tni_view_has_history(f, of));
    return f->out[k] != NULL;
}

TN_API bool tn_announce_count(tn_frame *f, int64_t count) {
    tni_call *c = door_call(f);
    if (count < 0 || count > 60000)
        return tn_fail(f, TN_INVALID, "a list of %lld results is too long", (long long)count);
    c->holder = tni_new(f->block, TN_I64, 1, &count);
    if (!c->holder) return false;
    f->out = (tn_tensor **)c->holder->storage->data;
    memset((void *)f->out, 0, (size_t)count * sizeof *f->out);
    f->nout = (int)count;
    return true;
}

TN_API bool tn_scratch(tn_frame *f, int64_t count, int64_t bytes_each) {
    int64_t bytes;
    if (!tni_bytes(count, bytes_each, &bytes) || !tni_add(bytes, (int64_t)f->scratch_bytes, &bytes))
        return tn_fail(f, TN_MEMORY, "needs too much scratch memory");
    f->scratch_bytes = (size_t)((bytes + TNI_ALIGN - 1) & -TNI_ALIGN);
    return true;
}

TN_API bool tn_fail(tn_frame *f, tn_code code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tni_error_list(f->block, code, format, list);
    va_end(list);
    return false;
}

TN_API bool tn_cancelled(const tn_frame *f) {
    return tni_stop_seen((tni_stop *)(uintptr_t)&f->stop);
}

/* --- prepare: all that can fail --------------------------------------------------------------- */

/* Whether a and b, broadcast, have each element at one address: leading dimensions of size 1 are of
 * no meaning, nor is the stride of any. */
static bool door_same_place(const tn_tensor *a, const tn_tensor *b) {
    const int most = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (a->storage != b->storage || a->offset != b->offset || a->dtype != b->dtype) return false;
    for (int d = 1; d <= most; d++) { /* from the last */
        const int i = a->ndim - d, k = b->ndim - d;
        const int64_t size = i < 0 ? 1 : a->size[i];
        if (size != (k < 0 ? 1 : b->size[k])) return false;
        if (size > 1 && a->stride[i] != b->stride[k]) return false;
    }
    return true;
}

/* How many inputs, from the first, may be exactly the written tensor. A loop reads an element of
 * all before it writes it. Otherwise look has read them before run writes, so in general self alone
 * may, which run reads no more once it writes there. */
static int door_may_alias(const tn_frame *f) {
    const uint32_t forms = f->row->forms;
    if (f->row->loop) return f->nin;
    if (!(forms & TN_INPLACE)) return 0;
    return f->inplace && forms & TN_ALIAS ? f->nin : 1;
}

/* Of inputs but number `own` only the first `may` are t, and no other shares memory with it. */
static bool door_apart(tn_frame *f, const tn_tensor *t, const char *what, int own, int may) {
    if (tni_overlaps_itself(t))
        return tn_fail(f, TN_INVALID, "%s overlaps itself (it is expanded); clone it first", what);
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *in = f->in[i];
        if (!in || i == own || (in == t && i < may) || in->storage != t->storage) continue;
        if (in == t || door_same_place(t, in)) {
            if (i < may || !t->numel) continue;
            return tn_fail(f, TN_INVALID,
                           "%s is also input %d, which the operator reads while it writes; "
                           "clone it first",
                           what, i);
        }
        if (tni_overlap(t, in))
            return tn_fail(f, TN_INVALID, "%s overlaps input %d in part; clone one of them first",
                           what, i);
    }
    return true;
}

/* Written tensors may not overlap themselves, each other, or inputs they may not be. */
static TNI_NOINLINE bool door_overlap(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    const int may = door_may_alias(f);
    for (int k = 0; k < f->ngiven; k++) {
        tn_tensor *t = f->given[k];
        const char *what = tni_written_name(f);
        if (!(t->flags & TNI_META) != !f->meta)
            return tn_fail(f, TN_INVALID, "%s is on another device", what);
        if (!door_apart(f, t, what, -1, may)) return false;
        for (int j = 0; j < k; j++)
            if (f->given[j]->storage == t->storage && tni_overlap(f->given[j], t))
                return tn_fail(f, TN_INVALID, "out tensors %d and %d overlap", j, k);
    }
    for (int i = 0; gen->props & TN_PROP_MUTATED && i < gen->nfixed; i++) {
        const tn_param *p = &gen->param[gen->fixed[i]];
        if (p->flags & TN_P_MUTATED && f->in[i] && !(f->unwritten >> i & 1) &&
            !door_apart(f, f->in[i], p->name, i, 0))
            return false;
    }
    return true;
}

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
    return true;
}

/* It reads only, so it is stopped even where run is not. */
TN_PRIV bool tni_look(tn_frame *f) {
    bool ok;
    f->stop.seen = 0;
    f->stop.request = f->block->unstopped ? NULL : &f->block->context->cancel;
    ok = f->row->look(f);
    return f->stop.seen ? tn_fail(f, TN_CANCELLED, "the call was asked to stop") : ok;
}

/* A gradient that reads an input which this call overwrites reads a copy of it. */
TNI_INLINE bool door_prepare(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    if (rare && (f->ngiven || row->gen->props & TN_PROP_MUTATED) && !door_overlap(f)) return false;
    if (rare && row->look && !f->meta && !tni_look(f)) return false;
    if (TNI_UNLIKELY(c->unknown_out >= 0) && !door_counted(c)) return false;
    for (int k = 0; k < f->nout; k++) {
        tn_tensor *t = f->out[k];
        if (t && !t->storage && !tni_set_storage(b, t)) return false;
    }
    if (f->scratch_bytes && !f->meta && !(f->scratch = tni_need(b, (int64_t)f->scratch_bytes)))
        return false;
    if (f->recording) {
        if (!(f->node = tni_node_new(f))) return false;
        if (rare && f->ngiven && f->given[0]->flags & TNI_VIEW &&
            !(c->rebase = tni_view_rebase(f, f->given[0])))
            return false;
    }
    return !rare || !(tni_load_relaxed(&b->hooks) & TNI_HOOK_RECORD) || f->meta ||
           tni_record_call(c);
}

/* A floating result of a row without a gradient cannot join a graph. */
static TNI_NOINLINE bool door_may_record(tn_frame *f) {
    if (f->row->grad) return true;
    for (int k = 0; k < f->row->gen->nresults && k < f->nout; k++)
        if (f->out[k] && tni_dtype(f->out[k]->dtype)->category >= TNI_CAT_FLOAT)
            return tn_fail(
                f, TN_AUTOGRAD,
                "has no gradient, but an argument requires grad; detach it or use no-grad mode");
    f->recording = false;
    return true;
}

/* --- publish: cannot fail --------------------------------------------------------------------- */

static void door_bump(tn_tensor *t) {
    uint32_t *version = &t->storage->version;
    tni_store_relaxed(version, tni_load_relaxed(version) + 1);
}

TN_PRIV void tni_bump_written(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    int slot = gen->nfixed;
    for (int k = 0; k < f->ngiven; k++) door_bump(f->given[k]);
    if (!(gen->props & TN_PROP_MUTATED)) return;
    for (int i = 0; i < gen->nfixed; i++)
        if (gen->param[gen->fixed[i]].flags & TN_P_MUTATED && f->in[i] && !(f->unwritten >> i & 1))
            door_bump(f->in[i]);
    for (int i = 0; i < gen->nparam; i++) {
        tn_tensors l;
        if (gen->param[i].type != TN_T_TENSORS) continue;
        memcpy(&l, (const char *)f->args + gen->param[i].offset, sizeof l);
        if (gen->param[i].flags & TN_P_MUTATED)
            for (int64_t k = 0; k < l.n; k++)
                if (f->in[slot + k]) door_bump(f->in[slot + k]);
        slot += (int)l.n;
    }
}

/* What the call wrote into tensors that were there before it. */
static TNI_NOINLINE void door_written(tni_call *c) {
    tn_frame *f = &c->f;
    for (int k = 0; TNI_UNLIKELY(c->redirected >> k); k++)
        if (c->redirected >> k & 1) {
            if (!f->meta) tni_copy_elements(f->block, f->given[k], f->out[k]);
            tni_drop(f->block, f->out[k]);
            f->out[k] = f->given[k];
        }
    tni_bump_written(f);
}

TNI_INLINE void door_publish(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    const tn_gen *gen = row->gen;
    if (rare && (f->ngiven || gen->props & TN_PROP_MUTATED)) door_written(c);
    if (f->recording) {
        int results = !rare ? 1 : gen->props & TN_PROP_RETURNS_LIST ? f->nout : gen->nresults;
        for (int k = 0; k < results && k < f->nout; k++)
            if (f->out[k] && tni_dtype(f->out[k]->dtype)->category >= TNI_CAT_FLOAT)
                tni_node_hang(b, f->node, f->out[k], k);
        if (rare && c->rebase) tni_node_hang(b, c->rebase, f->given[0]->base, 0);
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
    if (c->holder) tni_drop(f->block, c->holder);
}

/* A stream of random numbers advances only where they are published. */
static void door_run_drawing(tn_frame *f) {
    tn_generator before;
    int64_t most = 0;
    for (int k = 0; k < f->nout; k++)
        if (f->out[k] && f->out[k]->numel > most) most = f->out[k]->numel;
    if (most <= DOOR_FEW) f->stop.request = NULL;
    if (!f->stop.request) {
        f->row->run(f);
        return;
    }
    before = *f->generator;
    f->row->run(f);
    if (tni_load_relaxed(&f->stop.seen)) *f->generator = before;
}

/* A call that writes what was there before it, or is a part of what must happen as a whole, goes on
 * to its end. */
TN_PRIV TNI_NOINLINE bool tni_run_rare(tn_frame *f) {
    uint32_t *cancel = &f->block->context->cancel;
    const bool whole = f->ngiven || f->row->gen->props & TN_PROP_MUTATED;
    if (!f->block->unstopped && tni_load_relaxed(cancel)) return false;
    f->stop.request = whole || f->block->unstopped ? NULL : cancel;
    if (f->generator)
        door_run_drawing(f);
    else
        f->row->run(f);
    return !tni_load_relaxed(&f->stop.seen);
}

TNI_INLINE bool door_primitive(tni_call *c, const tn_row *row, tni_block *b, const bool rare) {
    tn_frame *f = &c->f;
    f->out = f->out_;
    f->nout = 0;
    if (TNI_UNLIKELY(!row->check(f)) || TNI_UNLIKELY(f->recording && !door_may_record(f)) ||
        TNI_UNLIKELY(!door_prepare(c, row, b, rare))) {
        door_undo(c);
        return false;
    }
    if (!f->meta && TNI_UNLIKELY(!tni_run(f, row, b))) {
        door_undo(c);
        return tn_fail(f, TN_CANCELLED, "the call was asked to stop");
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
    if (gen->props & TN_PROP_RETURNS_LIST) {
        tn_list l = {NULL, 0, NULL};
        if (ok) l.at = f->out, l.n = f->nout, l.holder = c->holder;
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
    const unsigned props =
        TN_PROP_LISTS | TN_PROP_GENERATOR | TN_PROP_MUTATED | TN_PROP_RETURNS_LIST;
    return !b || how != TN_PLAIN || gen->props & props || gen->nresults != 1 || gen->nsaves ||
           row->compose || row->look || tni_load_relaxed(&b->hooks) || door_out_given(gen, args);
}

static void door_begin(tni_call *c, const tn_row *row, unsigned how, const char *file, int line,
                       const void *args) {
    tn_frame *f = &c->f;
    f->row = row;
    f->args = args;
    f->in = f->in_;
    f->out = f->out_;
    f->nin = f->nout = 0;
    f->recording = f->meta = false;
    f->inplace = how & TN_IN_PLACE;
    f->type = 0;
    f->device = TN_CPU;
    memset(&f->unneeded, 0, offsetof(tn_frame, caller) - offsetof(tn_frame, unneeded));
    f->file = file;
    f->line = line;
    c->in_more = NULL;
    c->holder = NULL;
    c->redirected = 0;
    c->unknown_out = -1;
    c->rebase = NULL;
}

/* A call of which nothing is rare: the same steps. */
static TNI_NOINLINE bool door_usual(tni_block *b, const tn_row *row, const char *file, int line,
                                    const void *args, void *results) {
    tni_call c;
    tn_frame *f = &c.f;
    bool ok, pending;
    door_begin(&c, row, TN_PLAIN, file, line, args);
    f->block = b;
    f->caller = b->frame;
    tni_place_set(b, file, line);
    b->frame = f;
    pending = b->failed != 0;
    ok = door_enter(&c, row, b, false) && door_primitive(&c, row, b, false);
    if (TNI_UNLIKELY(f->scratch != NULL)) tni_put(b, b, f->scratch, (int64_t)f->scratch_bytes);
    if (TNI_UNLIKELY(!ok) && !pending) tni_call_error(f);
    b->frame = f->caller;
    *(tn_tensor **)results = ok ? f->out[0] : NULL;
    return ok || (tni_leave(b, false), false);
}

static TNI_NOINLINE bool door_rare(tni_block *b, const tn_row *row, unsigned how, const char *file,
                                   int line, const void *args, void *results) {
    tni_call c;
    tn_frame *f = &c.f;
    double begin = 0;
    bool ok, pending;
    door_begin(&c, row, how, file, line, args);
    if (TNI_UNLIKELY(!b)) return door_results(&c, results, false), false;
    f->block = b;
    f->caller = b->frame;
    tni_place_set(b, file, line);
    b->frame = f;
    pending = b->failed != 0; /* an error that is not this call's */
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE)) begin = tni_now(b->context);
    ok = door_enter(&c, row, b, true);
    if (ok)
        ok = row->compose ? tni_compose(&c) : door_primitive(&c, row, b, true);
    else
        f->nout = 0;
    if (TNI_UNLIKELY(f->scratch != NULL)) tni_put(b, b, f->scratch, (int64_t)f->scratch_bytes);
    if (TNI_UNLIKELY(c.in_more != NULL)) tni_put(b, b, c.in_more, c.in_bytes);
    if (TNI_UNLIKELY(!ok) && !pending) tni_call_error(f);
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE)) door_profile(&c, begin);
    b->frame = f->caller;
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
