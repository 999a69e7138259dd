/* short.c - the short way of a pointwise call on a few floats.
 *
 * Most calls in a loop of small tensors are alike: operands of this thread, row-major, of one shape
 * and floating dtype, each in memory of whole vectors, a part of larger memory, or one element for
 * all; a new result; nobody who watches. Then the door's steps come down to a result, one loop and
 * perhaps a node. What is unusual in any way is left to the long way, which finds everything as it
 * was. All that can fail here is memory. */
#include "../kernels/kernels.h"
#include "rowform.h"

enum {
    SHORT_IN = 3,
    SHORT_MAY = TNI_REQUIRES | TNI_LEAF | TNI_RETAIN, /* flags that change nothing here */
    SHORT_UNEVEN = 1 << 30,                           /* an operand is no flat tensor */
    SHORT_PART = 1 << 29                              /* none is: all look like a part */
};

typedef struct short_way {
    tn_tensor *in[SHORT_IN];
    const char *at[SHORT_IN];
    int64_t step[SHORT_IN];
    const tn_tensor *like; /* an operand that is flat, else a part */
    const char *like_at;
    unsigned any;          /* flags of all */
    int nin, type, vector; /* type: TNI_IN_*; vector: bytes of one */
    tni_number number[SHORT_IN];
    uint64_t fill[SHORT_IN][TNI_VECTOR_BYTES / sizeof(uint64_t)];
} short_way;

/* Whether t's elements lie one after another, in memory that may be read to the end of a vector. */
TNI_INLINE bool short_is_flat(const tn_tensor *t) {
    return ((t->flags ^ TNI_CONTIGUOUS) & ~(unsigned)SHORT_MAY) == 0 && !t->offset &&
           t->storage->kind == TNI_DATA_INSIDE;
}

/* One element in all places of a vector. */
static void short_fill(short_way *s, int i, const void *from) {
    uint64_t bits;
    uint32_t half;
    if (s->type == TNI_IN_F64)
        memcpy(&bits, from, sizeof bits);
    else {
        memcpy(&half, from, sizeof half);
        bits = half * UINT64_C(0x100000001);
    }
    /* Eight bytes at a time: one double, or a float twice. */
    for (int k = 0; 8 * k < s->vector; k++) s->fill[i][k] = bits;
    s->any |= SHORT_UNEVEN;
    s->at[i] = (const char *)s->fill[i];
    s->step[i] = 0;
}

/* A number in the place of operand i, if a float of 24 bits has it exactly or if it is
 * rounded once. */
static bool short_number(short_way *s, tni_block *b, const tn_param *p, const void *args, int i) {
    /* Integers up to 2^24 are exact in a float. A value in `real` goes
     * the long way. */
    const int64_t most = 1 << 24;
    tn_scalar n;
    double wide;
    float narrow;
    if (!(p->flags & TN_P_NUMBER) || !s->like->ndim) return false;
    memcpy(&n, (const char *)args + p->number_offset, sizeof n);
    /* Other kinds, and large integers, are left to the door. */
    if (n.kind == TN_KIND_INT ? n.integer > most || n.integer < -most || n.real > 0
                              : n.kind != TN_KIND_FLOAT)
        return false;
    wide = n.kind == TN_KIND_FLOAT ? n.real : (double)n.integer;
    narrow = (float)wide;
    short_fill(s, i, s->type == TNI_IN_F64 ? (const void *)&wide : (const void *)&narrow);
    /* Only a node needs the number as a tensor. */
    if (s->any & TNI_REQUIRES) s->in[i] = tni_number_wrap(b, &s->number[i], n);
    return true;
}

/* Whether t's elements lie one after another in some memory, with a history that is up to date. */
static bool short_is_part(const tn_tensor *t) {
    const unsigned may = (unsigned)SHORT_MAY | TNI_VIEW;
    return ((t->flags ^ TNI_CONTIGUOUS) & ~may) == 0 && t->device == TN_CPU && t->numel &&
           !tni_view_is_stale(t);
}

/* Operand i as a part. Another thread may write what lies behind it: whole vectors are read where
 * they lie, less is copied. */
static TNI_NOINLINE bool short_part(short_way *s, int i) {
    const tn_tensor *t = s->in[i];
    const int64_t bytes = t->numel << tni_width(t->dtype);
    if (!short_is_part(t)) return false;
    s->any |= SHORT_UNEVEN;
    s->at[i] = tni_bytes_at(t);
    s->step[i] = s->vector;
    /* Whole vectors end with the tensor; nothing behind it is read. */
    if (bytes % s->vector == 0) return true;
    if (bytes > TNI_VECTOR_BYTES) return false;
    memset(s->fill[i], 0, sizeof s->fill[i]);
    memcpy(s->fill[i], s->at[i], (size_t)bytes);
    s->at[i] = (const char *)s->fill[i];
    return true;
}

/* Operand i, a tensor; not the one with which all are compared. */
TNI_INLINE bool short_beside(short_way *s, const tni_block *b, int i) {
    const tn_tensor *t = s->in[i];
    /* One thread, dtype and shape; then flat, a part, or repeated. */
    if (TNI_UNLIKELY(t->owner != b) || t->dtype != s->like->dtype || !tni_same_shape(t, s->like))
        return false;
    s->any |= t->flags;
    if (TNI_LIKELY(short_is_flat(t))) {
        s->at[i] = (const char *)t->storage->data;
        s->step[i] = s->vector;
        return true;
    }
    if (t->flags & ~(unsigned)SHORT_MAY) return short_part(s, i);
    if (!tni_is_repeated(t)) return false;
    short_fill(s, i, tni_bytes_at(t));
    return true;
}

/* Numbers come last, when it is known whether the call is recorded. */
TNI_INLINE bool short_operands(short_way *s, tni_block *b, const tn_gen *gen, const void *args) {
    bool numbers = false;
    /* The operand that stands for all was compared with itself already. */
    for (int i = 0; i < s->nin; i++) {
        if (s->in[i] == s->like) {
            s->at[i] = s->like_at;
            s->step[i] = s->vector;
        } else if (TNI_UNLIKELY(!s->in[i])) {
            numbers = true;
        } else if (!short_beside(s, b, i)) {
            return false;
        }
    }
    for (int i = 0; TNI_UNLIKELY(numbers) && i < s->nin; i++)
        if (!s->in[i] && !short_number(s, b, tn_gen_tensor(gen, i), args, i)) return false;
    return true;
}

/* Hangs the call on the tape; false: out of memory. */
static TNI_NOINLINE bool short_record(short_way *s, tni_block *b, const tn_row *row,
                                      const void *args, tn_tensor *out) {
    tn_frame f;
    /* All flat: one geometry for every slot. Otherwise a frame for the general node. */
    if (TNI_LIKELY(!(s->any & SHORT_UNEVEN)))
        return tni_node_flat(b, row, args, s->in, s->nin, out);
    tni_frame_begin(&f, b, row, TN_PLAIN, NULL, 0, args);
    f.in = s->in;
    f.out_[0] = out;
    f.nin = s->nin;
    f.nout = 1;
    if (!(f.node = tni_node_new(&f))) return false;
    tni_node_hang(b, f.node, out, 0);
    return true;
}

/* What s->like, an operand of this thread, says of all. */
TNI_INLINE bool short_like(short_way *s, const tni_block *b) {
    if (TNI_UNLIKELY(s->like->owner != b) || TNI_UNLIKELY(s->like->ndim > TNI_FEW_DIMS) ||
        TNI_UNLIKELY(s->like->dtype != TN_F32 && s->like->dtype != TN_F64))
        return false;
    s->type = s->like->dtype == TN_F32 ? TNI_IN_F32 : TNI_IN_F64;
    s->vector = b->context->kernels->lanes[s->type] * (s->type == TNI_IN_F32 ? 4 : 8);
    s->any = s->like->flags;
    return true;
}

/* No operand is flat: the first that is a part, and small, stands for all. */
static TNI_NOINLINE bool short_begin_part(short_way *s, const tni_block *b) {
    int i = 0;
    while (i < s->nin && !(s->in[i] && short_is_part(s->in[i]))) i++;
    if (i == s->nin) return false;
    s->like = s->in[i];
    if (s->like->numel > TNI_INSIDE || !short_like(s, b) ||
        s->like->numel << tni_width(s->like->dtype) > TNI_INSIDE || !short_part(s, i))
        return false;
    s->like_at = s->at[i];
    s->any |= SHORT_PART;
    return true;
}

/* Whether a call of this row may go the short way, whatever its operands are. */
TNI_INLINE bool short_begin(short_way *s, const tni_block *b, const tn_gen *gen, const void *args) {
    tn_tensor *given = NULL;
    /* Parameters beside tensors: none, or one double. No out=, no hook, no request to stop. */
    if (gen->nparam != gen->nfixed && TNI_UNLIKELY(!(gen->props & TN_PROP_DOUBLE))) return false;
    if (gen->out_offset != UINT16_MAX)
        memcpy(&given, (const char *)args + gen->out_offset, sizeof given);
    if (TNI_UNLIKELY(gen->nfixed > SHORT_IN || given) ||
        TNI_UNLIKELY(tni_load_relaxed(&b->hooks) | tni_load_relaxed(&b->context->cancel)))
        return false;
    s->nin = gen->nfixed;
    s->like = NULL;
    /* Others are compared with the first flat operand. */
    for (int i = 0; i < s->nin; i++) {
        memcpy(&s->in[i], (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof s->in[i]);
        if (!s->like && s->in[i] && short_is_flat(s->in[i])) s->like = s->in[i];
    }
    if (TNI_UNLIKELY(!s->like)) return short_begin_part(s, b);
    s->like_at = (const char *)s->like->storage->data;
    return short_like(s, b);
}

/* The row's one number parameter, if it has one, and the loop over whole vectors. */
TNI_INLINE void short_run(short_way *s, const tni_block *b, const tn_gen *gen, const void *args,
                          const tn_tensor *out) {
    const int64_t bytes = out->storage->bytes;
    double number = 0;
    float narrow;
    if (gen->props & TN_PROP_DOUBLE)
        memcpy(&number, (const char *)args + gen->param[gen->nfixed].offset, sizeof number);
    /* Both forms are made; the loop reads the one of its type. */
    narrow = (float)number;
    TNI_PATH(short_way);
    ((const tni_loop(*)[TNI_LOOP_TYPES])gen->loops)[b->context->kernels->isa][s->type](
        (char *)out->storage->data, s->at, s->step,
        bytes <= s->vector ? bytes > 0 : (bytes + s->vector - 1) / s->vector,
        s->type == TNI_IN_F64 ? (const void *)&number : (const void *)&narrow);
}

/* The result written into self, which nobody else here reads and whose memory is all its own. */
static tn_tensor *short_in_place(short_way *s, const tni_block *b, const tn_row *row,
                                 const void *args) {
    tn_tensor *self = s->in[0];
    uint32_t *version;
    /* self must be flat and fill its storage, so whole vectors may be written; others must
     * not lie in it. */
    if (self != s->like || !(row->forms & TN_INPLACE) ||
        (s->any & (TNI_REQUIRES | (unsigned)SHORT_PART) &&
         (s->any & SHORT_PART || !tni_state(b)->no_grad)) ||
        self->storage->bytes != self->numel << tni_width(self->dtype))
        return NULL;
    /* No other operand may lie in self's storage. */
    for (int i = 1; i < s->nin; i++)
        if (s->in[i] && s->in[i]->storage == self->storage) return NULL;
    short_run(s, b, row->gen, args, self);
    version = tni_version_of(self);
    tni_store_relaxed(version, tni_load_relaxed(version) + 1);
    return self;
}

/* NULL: not the short way, or an error. */
TNI_INLINE tn_tensor *short_make(tni_block *b, const tn_row *row, unsigned how, const void *args) {
    tn_tensor *out;
    short_way s;
    if (TNI_UNLIKELY(!short_begin(&s, b, row->gen, args)) ||
        TNI_UNLIKELY(!short_operands(&s, b, row->gen, args)))
        return NULL;
    if (TNI_UNLIKELY(how != TN_PLAIN)) return short_in_place(&s, b, row, args);
    /* A recorded row must have a gradient; otherwise the long way words the error. */
    const bool records =
        s.any & TNI_REQUIRES && !tni_state(b)->no_grad && row->grad != tn_grad_zero;
    if (TNI_UNLIKELY(records && (TNI_INFERENCE_ONLY || !row->grad)) ||
        TNI_UNLIKELY(!(out = tni_new_small(b, s.like))))
        return NULL;
    if (TNI_UNLIKELY(records && !short_record(&s, b, row, args, out))) {
        tni_drop(b, out);
        return (tn_tensor *)NULL;
    }
    short_run(&s, b, row->gen, args, out);
    return out;
}

TN_PRIV bool tni_pointwise_short(const tn_row *row, unsigned how, const char *file, int line,
                                 const void *args, void *results) {
    tni_block *b = tni_here();
    if (TNI_LIKELY(b && !b->failed)) {
        tni_place_set(b, file, line);
        tn_tensor *out = short_make(b, row, how, args);
        if (TNI_LIKELY(out != NULL)) return *(tn_tensor **)results = out, true;
        if (TNI_UNLIKELY(b->failed)) return tni_call_failed(b, row, file, line, args, results);
    }
    return tni_call_long(row, how, file, line, args, results);
}
